import { damaged, linesOf, parseBundleLine } from "../../codec/bundle.ts";
import { encryptedStore } from "../../codec/envelope.ts";
import { ThreadmarkError } from "../../errors.ts";
import { checkId } from "../../model/address.ts";
import type { EngineContext } from "../memory/context.ts";
import type { BundleRecord } from "./bundle-record.ts";
import { BundledThread } from "./incoming-thread.ts";

/** The lines of a bundle, in pieces of any length. */
export type BundleSource = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

type Header = Extract<BundleRecord, { kind: "bundle" }>;

/** The parts of a bundle, told in order as they prove to be sound. */
export interface BundleReader {
  header(header: Header): void;
  thread(thread: BundledThread): Promise<void>;
  deleted(id: string): Promise<void>;
}

/** Reads a bundle line by line, and decrypts it where it is encrypted. A line that does not follow is `CORRUPT` with its number. */
export async function readBundle(
  context: EngineContext,
  source: BundleSource,
  signal: AbortSignal | undefined,
  reader: BundleReader,
): Promise<void> {
  signal?.throwIfAborted();
  let number = 0;
  let thread: BundledThread | undefined;
  const threads = new Set<string>();
  const gone = new Set<string>();
  let begun = false;
  let ended = false;
  let open: ((line: string) => string | undefined) | undefined;
  for await (const line of linesOf(source)) {
    signal?.throwIfAborted();
    number += 1;
    if (line === "") continue;
    const record = opened(parseBundleLine(line, number) as BundleRecord, open, number);
    if (!begun && record.kind !== "bundle") throw damaged(number, "a bundle begins with a header");
    if (ended) throw damaged(number, "there is something behind the end");
    switch (record.kind) {
      case "bundle":
        if (begun) throw damaged(number, "a bundle begins inside another");
        checkVersion(record);
        open = await openerOf(context, record, number);
        reader.header(record);
        begun = true;
        break;
      case "thread":
        if (thread) throw damaged(number, "a thread begins inside another");
        if (threads.has(record.id)) throw damaged(number, "its thread was there before");
        thread = new BundledThread(record, context.codec, number);
        threads.add(thread.id);
        break;
      case "value":
        if (!thread) throw damaged(number, "a large value has no thread");
        thread.addValue(record, number);
        break;
      case "checkpoint":
        if (!thread) throw damaged(number, "a checkpoint has no thread");
        thread.addCheckpoint(record, number);
        break;
      case "writes":
        if (!thread) throw damaged(number, "writes have no thread");
        thread.addWrites(record, number);
        break;
      case "mail":
        if (!thread) throw damaged(number, "a message has no thread");
        thread.addMessage(record, number);
        break;
      case "end":
        if (!thread) throw damaged(number, "an end has no thread");
        thread.checkEnd(record, number);
        await reader.thread(thread);
        thread = undefined;
        break;
      case "void":
        if (thread?.id !== record.id) throw damaged(number, "what is to be dropped did not begin");
        threads.delete(thread.id);
        thread = undefined;
        break;
      case "deleted":
        if (thread) throw damaged(number, "a deleted thread stands inside another");
        checkDeleted(record.id, number);
        gone.add(record.id);
        await reader.deleted(record.id);
        break;
      case "done":
        if (thread) throw damaged(number, "the last thread has no end");
        if (threads.size !== record.threads) throw damaged(number, "the threads before it are not all there");
        if (gone.size !== (record.deleted ?? 0)) throw damaged(number, "the deleted threads are not all there");
        ended = true;
        break;
      default:
        throw damaged(number, "its kind is unknown");
    }
  }
  if (!ended) throw damaged(number + 1, "the bundle stops before its end");
}

function checkVersion({ version }: Header): void {
  if (version === 1 || version === 2 || version === 3) return;
  throw new ThreadmarkError(
    "VERSION",
    `The bundle has version ${version as unknown}; this version of threadmark reads up to 3. Upgrade threadmark.`,
  );
}

function checkDeleted(id: unknown, line: number): void {
  try {
    checkId(id as string, "A thread id");
  } catch (error) {
    throw damaged(line, "its thread has no id", error);
  }
}

/** Returns the function that decrypts the lines of a bundle; undefined where they are not encrypted. */
async function openerOf(
  context: EngineContext,
  { encrypted }: Header,
  line: number,
): Promise<((line: string) => string | undefined) | undefined> {
  if (encrypted === undefined) return undefined;
  if (typeof encrypted !== "string") throw damaged(line, "its key is no text");
  if (!context.encryption) throw encryptedStore("The bundle");
  const open = await context.encryption.openBundle(encrypted);
  if (open) return open;
  throw new ThreadmarkError(
    "KEY",
    "The keys do not fit the bundle: they are not the ones it was encrypted with, or its header is damaged. Open the store with the right keys.",
  );
}

/** Returns the record of a line of an encrypted bundle. A bundle is encrypted whole, or not at all. */
function opened(
  record: BundleRecord,
  open: ((line: string) => string | undefined) | undefined,
  number: number,
): BundleRecord {
  if ((record.kind === "sealed") !== (open !== undefined)) {
    throw damaged(number, open ? "it is not encrypted, and the bundle is" : "it is encrypted, and the bundle is not");
  }
  if (record.kind !== "sealed" || open === undefined) return record;
  const line = typeof record.line === "string" ? open(record.line) : undefined;
  if (line === undefined) throw damaged(number, "it does not decrypt, since it was changed or moved");
  return parseBundleLine(line.trimEnd(), number) as BundleRecord;
}
