import type { Backend } from "../../backend.ts";
import { memory } from "../../backends/memory/index.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { OpenOptions } from "../../model/interface/store-options.ts";
import type { Scheme } from "../../model/validation/store/open.ts";

/** Opens the backend that a url names, where there are no files and no sockets. Replaces `../open-backend.ts` in the web build. */
export async function openBackend(url: string, scheme: Scheme, options: OpenOptions): Promise<Backend> {
  if (scheme !== "memory") {
    throw new ThreadmarkError(
      "UNSUPPORTED",
      `A ${scheme}: store needs Node, Bun or Deno. In a browser or a worker use memory:, or open(backend) with a backend of your own.`,
    );
  }
  if (url !== "memory:") throw new TypeError("A memory: store has no name. Use memory: alone.");
  if (options.readOnly) throw new TypeError("A memory: store is empty at first: read-only it would stay so.");
  return memory();
}
