/** The most steps of a path: a change that is nested deeper could not be followed by a reader. */
const MOST_STEPS = 128;

/** Checks the patches of an update, as far as that is possible without the state. Returns the top-level keys they are in. */
export function checkPatches(patches: unknown): string[] {
  if (!Array.isArray(patches)) throw new TypeError("update.patch must be an array of [path, value].");
  return patches.map((entry: unknown, index) => {
    const where = `update.patch[${index}]`;
    if (!Array.isArray(entry) || entry.length < 1 || entry.length > 2) {
      throw new TypeError(`${where} must be [path, value], or [path] to remove a key.`);
    }
    return checkPath(entry[0], where);
  });
}

function checkPath(path: unknown, where: string): string {
  if (!Array.isArray(path) || path.length === 0 || path.length > MOST_STEPS) {
    throw new TypeError(`${where}: the path must be an array of 1 to ${MOST_STEPS} steps.`);
  }
  for (const step of path as unknown[]) {
    const isIndex = typeof step === "number" && Number.isSafeInteger(step) && step >= 0 && !Object.is(step, -0);
    if (isIndex || typeof step === "string") continue;
    const shown = typeof step === "number" ? String(step) : typeof step;
    throw new TypeError(`${where}: a step is a key, or an index from 0, not ${shown}.`);
  }
  const [first] = path as readonly (string | number)[];
  if (typeof first !== "string") throw new TypeError(`${where}: the first step is a key of the state.`);
  return first;
}
