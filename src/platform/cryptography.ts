/** Node's own, loaded when first needed: that takes a new process longer than all else that opening a store does. */
export function cryptography(): typeof import("node:crypto") {
  return process.getBuiltinModule("node:crypto");
}
