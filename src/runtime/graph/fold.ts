import { assign, isPlainObject } from "../../platform/plain-objects.ts";
import { ownCopy } from "../values/capture.ts";
import { append, merge } from "./built-in-reducers.ts";

export type AnyReducer = (current: unknown, update: unknown) => unknown;

/** The updates of one key in one step, applied one after the other. Many of them cost what they add, not what is there. */
export interface Fold {
  /** The value that the next update meets; undefined where there is none. */
  readonly value: unknown;
  /** Applies an update, or with `replaces` takes it as the value. */
  add(update: unknown, replaces: boolean): void;
  /** Returns the value after all updates. */
  end(): unknown;
}

/** Begins to fold the updates of a key into its value. */
export function newFold(reducer: AnyReducer | undefined, value: unknown): Fold {
  if (reducer === append) return new Appended(value);
  if (reducer === merge) return new Merged(value);
  return new Reduced(reducer, value);
}

/** Applies any reducer. Its arguments are its own: it may change a Map in place. */
class Reduced implements Fold {
  value: unknown;
  readonly #reducer: AnyReducer | undefined;
  #owned = false;

  constructor(reducer: AnyReducer | undefined, value: unknown) {
    this.#reducer = reducer;
    this.value = value;
  }

  add(update: unknown, replaces: boolean): void {
    const reducer = replaces ? undefined : this.#reducer;
    if (reducer === undefined || this.value === undefined) {
      this.value = update;
      this.#owned = false;
      return;
    }
    this.value = reducer(this.#owned ? this.value : ownCopy(this.value), ownCopy(update));
    this.#owned = true;
  }

  end(): unknown {
    return this.value;
  }
}

class Appended implements Fold {
  value: unknown;
  #list: unknown[] | undefined;

  constructor(value: unknown) {
    this.value = value;
  }

  add(update: unknown, replaces: boolean): void {
    if (replaces || this.value === undefined) {
      this.value = update;
      this.#list = undefined;
    } else if (Array.isArray(this.value) && Array.isArray(update)) {
      this.#list ??= [...this.value];
      for (const part of update) this.#list.push(part);
      this.value = this.#list;
    } else {
      this.value = append(this.value as string, update as string);
    }
  }

  end(): unknown {
    return this.value;
  }
}

class Merged implements Fold {
  value: unknown;
  #owned = false;

  constructor(value: unknown) {
    this.value = value;
  }

  add(update: unknown, replaces: boolean): void {
    if (replaces || this.value === undefined) {
      this.value = update;
      this.#owned = false;
    } else if (!this.#owned) {
      this.value = merge(this.value as object, update as object);
      this.#owned = true;
    } else {
      this.#mergeInto(this.value as object, update);
    }
  }

  #mergeInto(target: object, update: unknown): void {
    if (target instanceof Map && update instanceof Map) for (const [key, part] of update) target.set(key, part);
    else if (target instanceof Set && update instanceof Set) for (const part of update) target.add(part);
    else if (isPlainObject(target) && isPlainObject(update)) {
      for (const [key, part] of Object.entries(update)) assign(target, key, part);
    } else merge(target, update as object);
  }

  end(): unknown {
    return this.value;
  }
}
