import type { Json } from "../../codec/json.ts";
import type { ForkOptions } from "../../model/interface/options.ts";
import { copyRef } from "../../model/validation/refs.ts";
import { assign } from "../../platform/plain-objects.ts";
import type { EngineContext } from "../memory/context.ts";
import type { ForkRequest } from "./fork.ts";

/** Captures the options of a fork in the call itself. Throws `SERIALIZE` for edits that cannot be stored. */
export function captureFork(context: EngineContext, into: string, options: ForkOptions<unknown>): ForkRequest {
  const { at, history = "ancestors", label } = options;
  let tagged = false;
  let edits: { [key: string]: Json } | undefined;
  if (options.edits) {
    edits = {};
    const given = options.edits as { readonly [key: string]: unknown };
    for (const key of context.codec.names(given, "edits")) {
      const encoded = context.codec.encode(given[key], `edits.${key}`);
      tagged ||= encoded.tagged;
      assign(edits, key, encoded.tree);
    }
  }
  return { at: at === undefined ? undefined : copyRef(at), into, edits, tagged, history, label };
}
