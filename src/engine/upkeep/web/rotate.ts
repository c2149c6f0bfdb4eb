import { ThreadmarkError } from "../../../errors.ts";

/** Refuses to rotate: no store of a browser is encrypted. Replaces `../rotate.ts` in the web build. */
export async function rotateStore(): Promise<never> {
  throw new ThreadmarkError(
    "UNSUPPORTED",
    "The web build cannot encrypt: it has no node:crypto. Open the store in Node, Bun or Deno.",
  );
}
