import { ThreadmarkError } from "../../errors.ts";
import { shortenPath } from "../../model/shorten-path.ts";
import { nameOf } from "../mapping/bookkeeping.ts";

/** Rewrites the store's refusal of a checkpoint, which has a path into the state, so that it names the channel. */
export function channelFailure(error: unknown, thread: string, keys: readonly string[]): unknown {
  return renamed(error, thread, (path) => {
    const roots = keys.flatMap((key) =>
      [`update.set.${key}`, `state.${key}`, `state[${JSON.stringify(key)}]`].map((root) => ({ key, root })),
    );
    const found = roots.filter(({ root }) => path.startsWith(root)).sort((a, b) => b.root.length - a.root.length)[0];
    const channel = found && nameOf(found.key);
    return found && channel !== undefined ? { channel, rest: path.slice(found.root.length) } : undefined;
  });
}

/** Rewrites the store's refusal of writes, which has an index, so that it names the channel. */
export function writeFailure(error: unknown, thread: string, writes: readonly { readonly channel: string }[]): unknown {
  return renamed(error, thread, (path) => {
    const [root, index] = /^writes\[(\d+)\]\.value/.exec(path) ?? [];
    const channel = writes[Number(index)]?.channel;
    return root !== undefined && channel !== undefined ? { channel, rest: path.slice(root.length) } : undefined;
  });
}

function renamed(
  error: unknown,
  thread: string,
  find: (path: string) => { readonly channel: string; readonly rest: string } | undefined,
): unknown {
  if (!(error instanceof ThreadmarkError) || error.code !== "SERIALIZE" || error.path === undefined) return error;
  const found = find(error.path);
  if (found === undefined) return error;
  const { channel, rest } = found;
  const path = `${channel}${rest}`;
  // The codec's message is the shortened path, ": ", and the fault. The path itself may hold a colon.
  const fault = error.message.slice(shortenPath(error.path).length + ": ".length);
  const message = `Channel ${JSON.stringify(channel)} of thread ${JSON.stringify(thread)}: ${shortenPath(path)}: ${fault}`;
  return new ThreadmarkError("SERIALIZE", message, { thread, path, cause: error });
}
