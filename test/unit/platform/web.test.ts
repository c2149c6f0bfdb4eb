import { hash } from "node:crypto";
import { types } from "node:util";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as node from "../../../src/platform/bytes.ts";
import { types as webTypes } from "../../../src/platform/web/brands.ts";
import * as web from "../../../src/platform/web/bytes.ts";
import { cryptography, zlib } from "../../../src/platform/web/node-builtins.ts";

const texts = fc.string({ unit: "binary", maxLength: 200 });
const bytes = fc.uint8Array({ maxLength: 300 });

describe("bytes on the web are those of Node", () => {
  it("in the length of every text, lone surrogates included", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(web.byteLength(text)).toBe(node.byteLength(text));
      }),
    );
    for (const text of ["", "\ud800", "\udc00x", "a\ud83d", "😀", "\ud83d\ud83d\ude00"]) {
      expect(web.byteLength(text)).toBe(node.byteLength(text));
    }
  });

  it("in order, base64, Latin-1 and UTF-8", () => {
    fc.assert(
      fc.property(bytes, bytes, texts, (left, right, text) => {
        expect(web.compareBytes(left, right)).toBe(node.compareBytes(left, right));
        expect(web.base64(left)).toBe(node.base64(left));
        expect([...web.bytesOfBase64(web.base64(left))]).toEqual([...left]);
        expect(web.latin1(left)).toBe(node.latin1(left));
        expect([...web.utf8(text)]).toEqual([...node.utf8(text)]);
      }),
    );
  });

  it("in text that is no base64: its bytes have another base64 on both", () => {
    for (const text of ["x", "====", "a b", "QQ", "QQ==QQ==", "Q*=="]) {
      expect(web.base64(web.bytesOfBase64(text))).not.toBe(text);
      expect(node.base64(node.bytesOfBase64(text))).not.toBe(text);
    }
  });
});

it("the checksum and the hash of the web are those of Node", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 500 }), (text) => {
      expect(zlib().crc32(text)).toBe(crc32(text));
      expect(cryptography().hash("sha1", text, "binary")).toBe(hash("sha1", text, "binary"));
      expect(cryptography().hash("sha256", text, "binary")).toBe(hash("sha256", text, "binary"));
    }),
  );
});

it("random numbers of the web stay in their range and differ", () => {
  const numbers = Array.from({ length: 1_000 }, () => cryptography().randomInt(1, 2 ** 31));
  expect(numbers.every((number) => Number.isInteger(number) && number >= 1 && number < 2 ** 31)).toBe(true);
  expect(new Set(numbers).size).toBeGreaterThan(990);
  expect(cryptography().randomBytes(6).toString("base64url")).toMatch(/^[\w-]{8}$/);
});

it("the web tells kinds of objects as Node does, except for a Proxy", () => {
  const odd = Object.setPrototypeOf(new Map(), null) as object;
  const values: readonly unknown[] = [
    ...[new Map(), new Set(), new Date(), /x/, new TypeError("x"), Promise.resolve(), new Number(1), Object(1n)],
    ...[new WeakMap(), new WeakSet(), (function* () {})(), new Map().entries(), new Set().values()],
    ...[new ArrayBuffer(1), new SharedArrayBuffer(1), new DataView(new ArrayBuffer(1)), new Uint8Array(1)],
    ...[new Float64Array(1), Buffer.from("x"), {}, [], odd, null, undefined, 1, "x", () => 1, Object(Symbol())],
  ];
  for (const name of Object.keys(webTypes) as (keyof typeof types)[]) {
    for (const value of values) {
      expect([name, value, webTypes[name](value as object)]).toEqual([name, value, types[name](value as object)]);
    }
  }
  expect(webTypes.isProxy(new Proxy({}, {}))).toBe(false);
});
