import fc from "fast-check";
import { expect, it } from "vitest";
import { addressedId, idAddress, timeOfAddressed } from "../../../src/model/id.ts";

const numbers = fc.record({
  time: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  tape: fc.oneof(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.integer({ min: 2 ** 31, max: 2 ** 40 - 1 })),
  seq: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
});

it("an id tells its time, tape and seq, and looks like a UUID of version 7", () => {
  fc.assert(
    fc.property(numbers, ({ time, tape, seq }) => {
      const id = addressedId(time, tape, seq) as string;
      expect(idAddress(id)).toEqual({ time, tape, seq });
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }),
  );
});

it("ids of one tape sort by time, then by seq", () => {
  fc.assert(
    fc.property(numbers, numbers, (left, right) => {
      const [a, b] = [addressedId(left.time, 7, left.seq) as string, addressedId(right.time, 7, right.seq) as string];
      const order = left.time - right.time || left.seq - right.seq;
      expect(Math.sign(a < b ? -1 : a > b ? 1 : 0)).toBe(Math.sign(order));
    }),
  );
});

it("numbers that do not fit give no id, and other strings no address", () => {
  expect(addressedId(-1, 1, 1)).toBeUndefined();
  expect(addressedId(Number.NaN, 1, 1)).toBeUndefined();
  expect(addressedId(1, 1, 2 ** 31)).toBeUndefined();
  expect(addressedId(1, 2 ** 40, 1)).toBeUndefined();
  expect(idAddress("checkpoint-1")).toBeUndefined();
  expect(idAddress("01977420-dc00-7000-c827-93dd800000d1")).toBeUndefined();
});

it("ids of tapes below 2^31 are those of format 1", () => {
  expect(addressedId(0x0197_7420_dc00, 0x104f_27bb, 0xcc)).toBe("01977420-dc00-7000-8827-93dd800000cc");
  expect(addressedId(0x0197_7420_dc00, 0x104f_27bb + 2 ** 31, 0xcc)).toBe("01977420-dc00-7001-8827-93dd800000cc");
  expect(idAddress("01977420-dc00-71ff-8827-93dd800000cc")?.tape).toBe(0x104f_27bb + 511 * 2 ** 31);
  expect(idAddress("01977420-dc00-7200-8827-93dd800000cc")).toBeUndefined();
});

it("an id is known as that of a tape and a seq if it is made of them, whatever the time, and no other is", () => {
  const replaced = fc.record({ at: fc.nat(36), by: fc.constantFrom("0", "f", "F", "-", "g", "", "é", "00") });
  fc.assert(
    fc.property(numbers, fc.option(replaced), ({ time, tape, seq }, change) => {
      const made = addressedId(time, tape, seq) as string;
      const id = change === null ? made : made.slice(0, change.at) + change.by + made.slice(change.at + 1);
      const found = timeOfAddressed(id, tape, seq);
      expect(found !== undefined && addressedId(found, tape, seq) === id).toBe(found !== undefined);
      const { time: told, ...address } = idAddress(id) ?? {};
      expect(found).toBe(JSON.stringify(address) === JSON.stringify({ tape, seq }) ? told : undefined);
    }),
    { numRuns: 1_000 },
  );
  expect(timeOfAddressed(addressedId(5, 7, 9) as string, 7, 9)).toBe(5);
  expect(timeOfAddressed(addressedId(5, 7, 9) as string, 7, 10)).toBeUndefined();
  expect(timeOfAddressed(addressedId(5, 7, 9) as string, 6, 9)).toBeUndefined();
});
