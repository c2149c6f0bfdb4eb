/** Returns the error for a store or a thread that this copy of the package did not make. */
export function otherCopy(what: "store" | "thread"): TypeError {
  return new TypeError(
    `This ${what} is of another copy of threadmark than the runtime or saver that uses it, or it is no ${what}. ` +
      "Open the store with the copy that uses it, or install a single one: `npm ls threadmark` lists them.",
  );
}
