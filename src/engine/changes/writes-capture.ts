import type { LeaseToken, WritesInput } from "../../model/interface/options.ts";
import type { EngineContext } from "../memory/context.ts";
import { captureLease } from "./put/capture.ts";
import type { CapturedWrites } from "./writes.ts";

/** Encodes a task's validated results in the call itself. Throws `SERIALIZE` for a value that cannot be stored. */
export function captureWrites(
  context: EngineContext,
  namespace: string,
  checkpoint: string,
  { task, node = null, writes }: WritesInput,
  lease: LeaseToken | undefined,
): CapturedWrites {
  const stored = writes.map((write, position) => {
    const { tree } = context.codec.encode(write.value, `writes[${position}].value`);
    return [write.index ?? position, write.channel, tree] as const;
  });
  return { namespace, checkpoint, task, node, writes: stored, lease: captureLease(lease) };
}
