import fc from "fast-check";
import { expect, it } from "vitest";
import { canCompress, unwrap, unwrapJson, wrap } from "../../../src/codec/envelope.ts";
import { ThreadmarkError } from "../../../src/errors.ts";

const compressions = ["none", "deflate", ...(canCompress("zstd") ? (["zstd"] as const) : [])] as const;

it("an envelope gives back the text it wrapped, however it was compressed", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(...compressions), (json, compression) => {
      expect(unwrap(wrap(json, compression, "1"))).toBe(json);
    }),
  );
});

it("an envelope never takes a damaged value for a sound one", () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.constantFrom(...compressions),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (json, compression, place, flip) => {
        const value = wrap(json, compression, "1");
        const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : Buffer.from(value);
        const index = place % bytes.length;
        bytes[index] = (bytes[index] as number) ^ flip;
        const damaged = typeof value === "string" ? bytes.toString("utf8") : new Uint8Array(bytes);
        let read: string | undefined;
        try {
          read = unwrap(damaged);
        } catch (error) {
          expect(error).toBeInstanceOf(ThreadmarkError);
          return;
        }
        // A flipped bit that still decompresses to the same text has changed nothing.
        expect(read).toBe(json);
      },
    ),
    { numRuns: 2_000 },
  );
});

it("an envelope answers random bytes and text with an error of its own", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.uint8Array()), (value) => {
      try {
        unwrapJson(value);
      } catch (error) {
        expect(error).toBeInstanceOf(ThreadmarkError);
        return;
      }
      expect.unreachable("ten random characters with the right checksum");
    }),
    { numRuns: 2_000 },
  );
});

it("an envelope of a newer format is VERSION, not damage", () => {
  expect(() => unwrap(`3${(wrap("{}", "none", "1") as string).slice(1)}`)).toThrow(
    expect.objectContaining({ code: "VERSION" }),
  );
});
