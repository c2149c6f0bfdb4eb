import { checkId } from "../address.ts";
import { sources } from "../checkpoint.ts";
import type { PutFields, PutOptions } from "../interface/options.ts";
import { checkAttributes } from "./attributes.ts";
import {
  checkInteger,
  checkKeys,
  checkObject,
  checkOneOf,
  checkOptions,
  checkPlainObject,
  checkStrings,
  checkText,
} from "./checks.ts";
import { checkLeaseToken } from "./lease.ts";
import { checkPatches } from "./patch.ts";
import { checkRef } from "./refs.ts";

type Input = { readonly [Name in keyof PutFields | "state" | "update"]?: unknown };

const inputKeys: { readonly [Name in keyof Required<Input>]: true } = {
  state: true,
  update: true,
  id: true,
  step: true,
  source: true,
  node: true,
  path: true,
  next: true,
  completed: true,
  interrupts: true,
  barriers: true,
  run: true,
  workflow: true,
  label: true,
  createdAt: true,
  stateVersion: true,
  metadata: true,
  attributes: true,
  due: true,
};

/** Checks the input of a put. Written out: it runs at every step, and most fields are absent. */
export function checkPutInput(input: unknown): void {
  const fields = checkObject(input, "The input of put") as Input;
  for (const key of Object.keys(fields)) {
    if (!Object.hasOwn(inputKeys, key)) checkKeys(fields, Object.keys(inputKeys), "The input of put");
  }
  const { update } = fields;
  const state = "state" in fields && (fields.state !== undefined || update === undefined);
  if (state === (update !== undefined)) throw new TypeError("put takes exactly one of state and update.");
  checkMetadataFields(fields);
  checkParts(fields);
  if (fields.attributes !== undefined) checkAttributes(fields.attributes);
  const { due } = fields;
  if (due !== undefined && due !== null && !Number.isFinite(due)) {
    throw new TypeError("due must be a finite number of milliseconds, or null.");
  }
  if (update !== undefined) checkUpdate(update);
}

/** Checks the fields that a checkpoint's metadata is made of, whether they were put or come from a bundle. */
export function checkMetadataFields(fields: Input): void {
  const { id, step, source, node, run, workflow, label, createdAt, stateVersion, metadata } = fields;
  if (id !== undefined) checkId(id, "id");
  if (step !== undefined) checkInteger(step, "step");
  if (source !== undefined) checkOneOf(source, sources, "source");
  if (node !== undefined && node !== null) checkText(node, "node");
  if (run !== undefined && run !== null) checkId(run, "run");
  if (workflow !== undefined && workflow !== null) checkId(workflow, "workflow");
  if (label !== undefined) checkText(label, "label");
  if (createdAt !== undefined && !Number.isFinite(createdAt)) throw new TypeError("createdAt must be a finite number.");
  if (stateVersion !== undefined) checkInteger(stateVersion, "stateVersion");
  if (metadata !== undefined) checkPlainObject(metadata, "metadata");
}

/** Checks the parts of a checkpoint's body besides the state, whether they were put or come from storage. */
export function checkParts({ path, next, completed, interrupts, barriers }: Input): void {
  if (path !== undefined) checkStrings(path, "path");
  if (next !== undefined) checkNext(next, "next");
  if (completed !== undefined) checkStrings(completed, "completed");
  if (interrupts !== undefined) checkInterrupts(interrupts, "interrupts");
  if (barriers !== undefined) checkBarriers(barriers, "barriers");
}

function checkNext(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array of node names and activations.`);
  for (const [index, entry] of value.entries()) {
    if (typeof entry === "string") {
      if (!entry.isWellFormed()) checkText(entry, `${what}[${index}]`);
      continue;
    }
    const activation = checkObject(entry, `${what}[${index}]`);
    checkText(activation["node"], `${what}[${index}].node`);
    if (activation["task"] !== undefined) checkText(activation["task"], `${what}[${index}].task`);
    checkKeys(activation, ["node", "task", "arg"], `${what}[${index}]`);
  }
}

function checkInterrupts(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array.`);
  for (const [index, entry] of value.entries()) {
    const interrupt = checkObject(entry, `${what}[${index}]`);
    checkText(interrupt["id"], `${what}[${index}].id`);
    checkText(interrupt["node"], `${what}[${index}].node`);
  }
}

function checkBarriers(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array.`);
  for (const [index, entry] of value.entries()) {
    const barrier = checkObject(entry, `${what}[${index}]`);
    checkText(barrier["node"], `${what}[${index}].node`);
    checkStrings(barrier["arrived"], `${what}[${index}].arrived`);
  }
}

const updateKeys = ["append", "set", "unset", "patch"];

function checkUpdate(value: unknown): void {
  const update = checkObject(value, "update");
  checkKeys(update, updateKeys, "update");
  const append = update["append"] === undefined ? {} : checkPlainObject(update["append"], "update.append");
  const set = update["set"] === undefined ? {} : checkPlainObject(update["set"], "update.set");
  const unset = update["unset"] as readonly string[] | undefined;
  // Any string may be a key.
  if (unset !== undefined && !(Array.isArray(unset) && unset.every((key) => typeof key === "string")))
    throw new TypeError("update.unset must be an array of strings.");
  for (const key of Object.keys(append)) {
    const added = append[key];
    if (added !== undefined && !Array.isArray(added) && typeof added !== "string") {
      throw new TypeError(`update.append: ${JSON.stringify(key)} must be an array of elements or a string.`);
    }
    if (Object.hasOwn(set, key)) throw twice(key);
  }
  for (const key of unset ?? []) if (Object.hasOwn(append, key) || Object.hasOwn(set, key)) throw twice(key);
  if (update["patch"] === undefined) return;
  for (const key of checkPatches(update["patch"])) {
    if (Object.hasOwn(append, key) || Object.hasOwn(set, key) || unset?.includes(key)) throw twice(key);
  }
}

function twice(key: string): TypeError {
  return new TypeError(`update: ${JSON.stringify(key)} is in more than one of append, set, unset and patch.`);
}

const optionKeys: readonly (keyof PutOptions)[] = ["parent", "expect", "lease"];

export function checkPutOptions(options: PutOptions): void {
  const { parent, expect, lease } = checkOptions(options, optionKeys, "put");
  if (parent !== undefined && parent !== null) checkRef(parent, "parent");
  if (expect !== undefined && expect !== null) checkRef(expect, "expect");
  if (lease !== undefined) checkLeaseToken(lease, "lease");
}
