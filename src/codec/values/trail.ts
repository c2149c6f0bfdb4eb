import { ThreadmarkError } from "../../errors.ts";
import { shortenPath } from "../../model/shorten-path.ts";
import { depthLimit } from "../json.ts";
import { RECORD_BYTES, tooLarge } from "../json-text.ts";
import { formatPath, type ValueStep } from "./path.ts";
import { propertyRefusal, type Refusal } from "./refusal.ts";

/** The position of a walk through a value, so that a refused value is named by its path. */
export class Trail {
  /** The object at each level. Entries below the level of the walk are stale. */
  readonly holders: unknown[] = [];
  /** The step taken from each level to the next. */
  readonly steps: ValueStep[] = [];
  /** The first word of every path. */
  root = "";

  /** Enters an object without a previous node: nothing but this check bounds the walk. */
  enter(value: unknown, depth: number): void {
    if (depth >= depthLimit) {
      const what = `a value nested more than ${depthLimit} levels deep`;
      this.refuse(depth, { what, next: "Flatten it, or store its parts under ids." });
    }
    for (let level = depth - 1; level >= 0; level--) {
      if (this.holders[level] !== value) continue;
      const what = `a cycle (a reference back to ${this.#path(level)})`;
      this.refuse(depth, { what, next: "Store an id in place of the reference." });
    }
    this.holders[depth] = value;
  }

  /** Throws SERIALIZE for the value `depth` levels deep, or, with `step`, for the value it holds there. */
  refuse(depth: number, refusal: Refusal, step?: ValueStep): never {
    return this.fail(depth, `${refusal.what} cannot be stored. ${refusal.next}`, undefined, step);
  }

  refuseProperty(value: object, key: PropertyKey, depth: number): never {
    return this.refuse(depth, propertyRefusal(value, key), typeof key === "symbol" ? undefined : key);
  }

  fail(depth: number, fault: string, cause?: unknown, step?: ValueStep): never {
    const path = this.#path(depth, step);
    throw new ThreadmarkError("SERIALIZE", `${shortenPath(path)}: ${fault}`, { path, cause });
  }

  refuseSize(depth: number, what: string, bytes: number): never {
    const path = this.#path(depth);
    throw tooLarge(`${shortenPath(path)}: ${what}`, bytes, RECORD_BYTES, { path });
  }

  #path(depth: number, step?: ValueStep): string {
    const steps = this.steps.slice(0, depth);
    if (step !== undefined) steps.push(step);
    return formatPath(this.root, steps, this.holders);
  }
}
