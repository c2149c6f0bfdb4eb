import { copyJson } from "../../codec/copy.ts";
import type { Delta } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import { type Resolve, resolveOwned } from "../../codec/references.ts";
import { ThreadmarkError } from "../../errors.ts";
import { resolverOf } from "../bodies/values/resolver.ts";

/** The large values of one thread in a bundle, by the names that the bundle gives them. */
export class BundledValues {
  readonly #values = new Map<string, Json>();
  readonly #resolve: Resolve = resolverOf((name) => {
    const value = this.#values.get(name);
    if (value === undefined)
      throw new ThreadmarkError("CORRUPT", "A large value does not stand before it. Export again.");
    return copyJson(value);
  });

  add(name: string, value: Json): void {
    this.#values.set(name, value);
  }

  /** Replaces the references of a tree, or of a delta, that the caller alone holds. */
  resolve<Tree extends Json | Delta>(tree: Tree): Tree {
    return resolveOwned(tree as Json, this.#resolve) as Tree;
  }
}
