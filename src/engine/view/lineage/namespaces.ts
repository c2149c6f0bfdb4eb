import type { Found } from "../../../backend.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { Tape } from "../../memory/tape.ts";
import { namespacesIn } from "../../records/heads.ts";
import { rangeOf } from "../../records/keys.ts";
import { sourceOf } from "./levels.ts";

/** Returns the namespaces that a fork may have inherited: all that the tapes it builds on have. Remembered. */
export async function inheritedNamespaces(context: EngineContext, tape: Tape): Promise<ReadonlySet<string>> {
  const forks: { readonly fork: Tape; readonly added: ReadonlySet<string> }[] = [];
  let level = tape;
  let namespaces: ReadonlySet<string> | undefined = knownNamespaces(context, level);
  while (level.meta.origin && !namespaces) {
    const source: Tape = await sourceOf(context, level, level.meta.origin);
    forks.push({ fork: level, added: await ownNamespaces(context, source) });
    level = source;
    namespaces = knownNamespaces(context, level);
  }
  let all: ReadonlySet<string> = namespaces ?? new Set([""]);
  for (const { fork, added } of forks.reverse()) {
    if ([...added].some((namespace) => !all.has(namespace))) all = new Set([...all, ...added]);
    all = context.inherited.keepNamespaces(fork, all);
    fork.namespaces = all;
  }
  return all;
}

function knownNamespaces(context: EngineContext, tape: Tape): ReadonlySet<string> | undefined {
  return tape.namespaces ?? context.inherited.namespacesOf(tape);
}

/** Returns the namespaces that a tape itself has rows of, deleted ones included. */
export async function ownNamespaces(context: EngineContext, tape: Tape): Promise<ReadonlySet<string>> {
  const namespaces = new Set(tape.tail.map(({ row }) => row.namespace));
  if (tape.meta.sealed === 0) return namespaces;
  const [found] = await context.read([{ scan: rangeOf(tape, "head") }]);
  for (const { value } of found as readonly Found[]) {
    for (const namespace of namespacesIn(value)) namespaces.add(namespace);
  }
  return namespaces;
}
