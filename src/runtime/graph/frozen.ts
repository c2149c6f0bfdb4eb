type Method = (...args: never[]) => unknown;

/** True for classes, Dates, buffers and the like: data that a store can hold has no methods of its own. */
type HasMethods<T> = [Extract<T[keyof T], Method>] extends [never] ? false : true;

/**
 * A value that is deeply readonly, as nodes get the state: lists, objects, Maps and Sets at every depth. Instances of other
 * classes keep their types.
 *
 * @example
 * function last(messages: Frozen<Message[]>): string | undefined { return messages.at(-1)?.text; }
 */
export type Frozen<T> = unknown extends T
  ? T
  : T extends string | number | boolean | bigint | symbol | null | undefined
    ? T
    : T extends readonly unknown[]
      ? { readonly [Index in keyof T]: Frozen<T[Index]> }
      : T extends ReadonlyMap<infer Key, infer Value>
        ? ReadonlyMap<Frozen<Key>, Frozen<Value>>
        : T extends ReadonlySet<infer Value>
          ? ReadonlySet<Frozen<Value>>
          : HasMethods<T> extends true
            ? T
            : { readonly [Key in keyof T]: Frozen<T[Key]> };
