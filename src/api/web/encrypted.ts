import { ThreadmarkError } from "../../errors.ts";

/** Browsers encrypt asynchronously only, value by value: a store there is not encrypted. */
export async function encrypted(): Promise<never> {
  throw new ThreadmarkError(
    "UNSUPPORTED",
    "The web build cannot encrypt: it has no node:crypto. Open the store in Node, Bun or Deno.",
  );
}
