/** A step of a path: a key of an object, or an index of a list. */
export type PathStep = string | number;

/**
 * A place in the state and its new value, or the path of a key to remove. Everything up to the last step must exist. The
 * last step may be a new key of an object, or the index after the last element of a list. The compiler checks the first
 * four steps by the state's type, the store all of them.
 *
 * @example
 * const done: Patch<State> = [["plan", "steps", 2, "done"], true];
 * await thread.put({ update: { patch: [done, [["plan", "draft"]]] } });
 */
export type Patch<State> = unknown extends State ? AnyPatch<readonly []> : PatchIn<State, readonly [], 4>;

/** Patches of which only the beginning of the path is known. */
type AnyPatch<Before extends readonly PathStep[]> =
  | readonly [path: readonly [...Before, PathStep, ...PathStep[]], value: unknown]
  | readonly [path: readonly [...Before, PathStep, ...PathStep[]]];

/** The patches inside a value, whose types are checked so many levels down. */
type PatchIn<Value, Before extends readonly PathStep[], Depth> = unknown extends Value
  ? AnyPatch<Before>
  : Value extends readonly (infer Element)[]
    ? PatchOf<Element, readonly [...Before, number], Depth>
    : Value extends object
      ? HasMethods<Value> extends true
        ? never
        : { [K in keyof Value & string]-?: PatchOf<Value[K], readonly [...Before, K], Depth> }[keyof Value & string]
      : never;

/** The patches of a value itself, and inside it. */
type PatchOf<Value, Path extends readonly PathStep[], Depth> =
  | readonly [path: Path, value: Value]
  | readonly [path: Path]
  | (Depth extends keyof Shallower ? PatchIn<NonNullable<Value>, Path, Shallower[Depth]> : DeeperPatch<Value, Path>);

type DeeperPatch<Value, Path extends readonly PathStep[]> = NonNullable<Value> extends object ? AnyPatch<Path> : never;

type Shallower = { 4: 3; 3: 2; 2: 1 };

/** True for instances of classes such as Map and Date: they are set as a whole. */
type HasMethods<Value> = true extends {
  [K in keyof Value]-?: unknown extends Value[K]
    ? never
    : Value[K] extends (...args: never[]) => unknown
      ? true
      : never;
}[keyof Value]
  ? true
  : false;
