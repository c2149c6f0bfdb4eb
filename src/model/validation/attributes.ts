import { byteLength } from "../../platform/bytes.ts";
import type { AttributeChanges, Where } from "../attributes.ts";
import { attributeLimits } from "../attributes.ts";
import { checkKeys, checkPlainObject } from "./checks.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a name may not have.
const control = /[\u0000-\u001f\u007f]/;

/** Checks attributes to set, or with null to remove. */
export function checkAttributes(value: unknown): asserts value is AttributeChanges {
  let count = 0;
  for (const [name, attribute] of Object.entries(checkPlainObject(value, "attributes"))) {
    checkName(name, "attributes");
    if (attribute === null) continue;
    checkValue(attribute, `attributes.${name}`);
    count += 1;
  }
  if (count <= attributeLimits.count) return;
  throw new TypeError(`attributes sets ${count} attributes, and a thread may have ${attributeLimits.count}.`);
}

const operators = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "prefix"];

/** Checks conditions on attributes. */
export function checkWhere(value: unknown, what: string): asserts value is Where {
  for (const [name, condition] of Object.entries(checkPlainObject(value, what))) {
    checkName(name, what);
    if (condition === null || typeof condition !== "object") checkValue(condition, `${what}.${name}`);
    else checkCondition(condition, `${what}.${name}`);
  }
}

function checkCondition(value: object, what: string): void {
  const fields = checkPlainObject(value, what);
  checkKeys(fields, operators, what);
  const given = Object.entries(fields).filter(([, operand]) => operand !== undefined);
  if (given.length === 0) throw new TypeError(`${what} has no condition. Known are ${operators.join(", ")}.`);
  for (const [operator, operand] of given) {
    if (operator === "in") {
      if (!Array.isArray(operand)) throw new TypeError(`${what}.in must be an array.`);
      for (const [index, one] of operand.entries()) checkValue(one, `${what}.in[${index}]`);
    } else {
      checkValue(operand, `${what}.${operator}`);
      if (operator === "prefix" && typeof operand !== "string") throw new TypeError(`${what}.prefix must be a string.`);
    }
  }
}

function checkName(name: string, what: string): void {
  const isName = name !== "" && name.isWellFormed() && !control.test(name);
  if (isName && byteLength(name) <= attributeLimits.nameBytes) return;
  throw new TypeError(
    `${what}: ${JSON.stringify(name)} is no name of an attribute: 1 to ${attributeLimits.nameBytes} bytes without control characters.`,
  );
}

function checkValue(value: unknown, what: string): void {
  if (typeof value === "boolean" || Number.isFinite(value)) return;
  const isText = typeof value === "string" && value.isWellFormed() && !value.includes("\0");
  if (isText && byteLength(value) <= attributeLimits.textBytes) return;
  throw new TypeError(
    `${what} must be a boolean, a finite number, or a string of up to ${attributeLimits.textBytes} bytes without NUL.`,
  );
}
