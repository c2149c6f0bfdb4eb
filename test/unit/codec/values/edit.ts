/** A stream of numbers in [0, 1), the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A copy of a value with some edits: fields and elements changed, added, removed, moved, at any depth. */
export function edited(value: unknown, spare: unknown, random: () => number): unknown {
  if (random() < 0.05) return spare;
  if (Array.isArray(value)) return editedList(value, spare, random);
  if (value instanceof Map) return new Map(editedList([...value], [spare, spare], random) as [unknown, unknown][]);
  if (value instanceof Set) return new Set(editedList([...value], spare, random));
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  let fields = Object.entries(value);
  const dice = random();
  if (dice < 0.1) fields.push([`new-${fields.length}`, spare]);
  else if (dice < 0.15) fields = fields.slice(1);
  else if (dice < 0.2) fields.reverse();
  const made: object = Object.create(prototype);
  for (const [name, field] of fields) {
    const property = { value: edited(field, spare, random), enumerable: true, writable: true, configurable: true };
    Object.defineProperty(made, name, property);
  }
  return made;
}

function editedList(list: readonly unknown[], spare: unknown, random: () => number): unknown[] {
  const dice = random();
  const at = Math.floor(random() * (list.length + 1));
  const many = Math.floor(random() * 3);
  if (dice < 0.2) return list.toSpliced(at, many);
  if (dice < 0.4) return list.toSpliced(at, many, spare, spare);
  if (dice < 0.5) return [...list.slice(many), ...Array.from({ length: many }, () => spare)];
  if (dice < 0.6) return [...Array.from({ length: many }, () => spare), ...list.slice(0, list.length - many)];
  if (dice < 0.8) return list.map((element) => edited(element, spare, random));
  return [...list];
}
