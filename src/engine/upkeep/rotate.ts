import type { Found, Key, Range, Value } from "../../backend.ts";
import { unwrap } from "../../codec/envelope.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { RotateResult } from "../../model/interface/results.ts";
import type { RotateOptions } from "../../model/interface/store-options.ts";
import { Attempts } from "../../platform/attempts.ts";
import { nextTurn } from "../../platform/turns.ts";
import type { Committer } from "../commits/group-commit.ts";
import { DataKey } from "../encryption/data-key.ts";
import type { EncryptedBackend } from "../encryption/encrypted-backend.ts";
import { type LineageKeys, makeKeys, ownerOf, PLAIN } from "../encryption/lineage-keys.ts";
import { neverRests } from "../faults/attempts.ts";
import { DamagedThreads } from "../faults/damaged-threads.ts";
import type { EngineContext } from "../memory/context.ts";
import { directoryPages } from "../reads/directory.ts";
import { decodeDirectory } from "../records/store-wide/directory.ts";
import { valueRange } from "../records/values.ts";
import { recordsIn } from "../view/lineage/tape-records.ts";
import { metaRecords, recordsOf } from "../view/lineage/tapes-of-lineage.ts";

/** Records written anew by one commit: some may be large. */
const TOGETHER = 16;

/** Wraps the data keys of a store anew, or writes everything anew, lineage by lineage, while others write. */
export async function rotateStore(
  context: EngineContext,
  committer: Committer,
  { data = false, progress, signal }: RotateOptions,
): Promise<RotateResult> {
  const { encryption } = context;
  if (encryption === undefined) throw notEncrypted();
  signal?.throwIfAborted();
  // A name that says nothing does not tell whether a key is wrapped by the current one.
  const always = encryption.keychain.ring.current === "";
  await encryption.keychain.rewrapStore(always);
  const number = data ? await encryption.keychain.beginRotation() : 0;
  const rotation = new Rotation(context, committer, encryption, number, always, signal);
  const done = new Set<number>();
  const damaged = new DamagedThreads();
  let threads = 0;
  for await (const page of directoryPages(context, {})) {
    for (const { id, value } of page) {
      signal?.throwIfAborted();
      try {
        await rotation.encryptEntry(id, value);
        const { lineage } = decodeDirectory(value);
        if (lineage !== undefined && !done.has(lineage)) {
          done.add(lineage);
          await rotation.rotate(lineage);
        }
      } catch (error) {
        // A damaged lineage keeps its keys, and the others are still rotated.
        damaged.add(id, error);
      }
      threads += 1;
      progress?.(threads);
    }
  }
  damaged.throwIfAny("They keep the keys they have, and all others are rotated: keep the earlier keys.", "rotate");
  if (data) await encryption.keychain.endRotation(number);
  return rotation.result;
}

/** A rotation under way. */
class Rotation {
  readonly #context: EngineContext;
  readonly #committer: Committer;
  readonly #encryption: EncryptedBackend;
  readonly #number: number;
  readonly #always: boolean;
  readonly #signal: AbortSignal | undefined;
  #wrapped = 0;
  #rewritten = 0;

  /** `number`: that of a rotation of all data; 0 where keys are only wrapped anew. */
  constructor(
    context: EngineContext,
    committer: Committer,
    encryption: EncryptedBackend,
    number: number,
    always: boolean,
    signal: AbortSignal | undefined,
  ) {
    this.#context = context;
    this.#committer = committer;
    this.#encryption = encryption;
    this.#number = number;
    this.#always = always;
    this.#signal = signal;
  }

  get result(): RotateResult {
    return { wrapped: this.#wrapped, rewritten: this.#rewritten };
  }

  /** Encrypts the directory record of a thread of before the store was encrypted. Where it was changed, that did it. */
  async encryptEntry(id: string, value: Value): Promise<void> {
    if (!this.#encryption.keychain.migrating) return;
    const key = { table: "directory", id } as const;
    await this.#committer.commit({ checks: [{ key, value }], puts: [{ key, value }] });
  }

  async rotate(lineage: number): Promise<void> {
    const keys = await this.#keysOf(lineage);
    if (keys === undefined) return;
    const isBegun = keys !== PLAIN && (keys.plain || keys.byId.size > 1);
    const isNew = keys !== PLAIN && keys.rotation === this.#number;
    if (isBegun || keys === PLAIN || (this.#number !== 0 && !isNew)) await this.#rewrite(lineage, isBegun);
    else if (this.#always || keys.wrapped.some(({ name }) => name !== this.#encryption.keychain.ring.current)) {
      const changed = await this.#changeKeys(lineage, (now) => this.#made([now.current], now.rotation, lineage));
      if (changed) this.#wrapped += 1;
    }
  }

  /** Writes all records of a lineage anew. Until that is done, its meta records have the old key and the new one. */
  async #rewrite(lineage: number, isBegun: boolean): Promise<void> {
    if (!isBegun) {
      const begun = await this.#changeKeys(lineage, (now, isPlain) => {
        const next = DataKey.random();
        return this.#made(isPlain ? [next] : [next, now.current], this.#number, lineage, isPlain);
      });
      if (!begun) return;
    }
    for (const { item: tape } of await metaRecords(this.#context, lineage)) {
      for (const range of recordsOf(lineage, tape)) await this.#rewriteRange(range as Range);
    }
    await this.#rewriteRange(valueRange(lineage));
    if (await this.#changeKeys(lineage, (now) => this.#made([now.current], now.rotation, lineage)))
      this.#rewritten += 1;
  }

  #made(
    keys: readonly [DataKey, ...DataKey[]],
    rotation: number,
    lineage: number,
    isPlain = false,
  ): Promise<LineageKeys> {
    return makeKeys(this.#encryption.keychain.ring, ownerOf(lineage), keys, rotation, isPlain);
  }

  /** Gives a lineage other keys, in one commit; false where it is gone. Commits planned with the old keys are refused from then on. */
  async #changeKeys(
    lineage: number,
    next: (now: LineageKeys, isPlain: boolean) => Promise<LineageKeys>,
  ): Promise<boolean> {
    const { keychain } = this.#encryption;
    for (const attempts = new Attempts(); ; ) {
      this.#signal?.throwIfAborted();
      const now = await this.#keysOf(lineage);
      if (now === undefined) return false;
      const keys = await next(now as LineageKeys, now === PLAIN);
      const batch = await this.#encryption.changingKeys(lineage, keys);
      if (batch === undefined) return false;
      if (await this.#committer.commit(batch)) {
        keychain.set(lineage, keys);
        return true;
      }
      if (!(await attempts.again())) throw neverRests(`of lineage ${lineage}`, "its keys were rotated");
    }
  }

  /** Reads the keys that a lineage has now; undefined where it is gone. */
  async #keysOf(lineage: number): Promise<LineageKeys | typeof PLAIN | undefined> {
    const { keychain } = this.#encryption;
    return (await keychain.find(lineage)) ? keychain.of(lineage) : undefined;
  }

  async #rewriteRange(range: Range): Promise<void> {
    let page: Found[] = [];
    for await (const found of recordsIn(this.#context, range, TOGETHER)) {
      page.push(found);
      if (page.length < TOGETHER) continue;
      await this.#rewritePage(range, page);
      page = [];
    }
    if (page.length > 0) await this.#rewritePage(range, page);
  }

  /** Writes records as they are: the backend encrypts them with the new key. Records that others changed have it already. */
  async #rewritePage(range: Range, page: readonly Found[]): Promise<void> {
    const keys = page.map(({ item, part }): Key => ({ ...range, item, part }));
    let values: readonly (Value | undefined)[] = page.map(({ value }) => value);
    for (const attempts = new Attempts(); ; ) {
      this.#signal?.throwIfAborted();
      await nextTurn();
      const entries = keys.flatMap((key, index) => {
        const value = values[index];
        if (value === undefined) return [];
        // A record that cannot be read must not be written over.
        unwrap(value);
        return [{ key, value }];
      });
      if (entries.length === 0 || (await this.#committer.commit({ checks: entries, puts: entries }))) return;
      if (!(await attempts.again())) throw neverRests(`of lineage ${range.lineage}`, "its records were rotated");
      values = (await this.#context.read(keys.map((get) => ({ get })))) as readonly (Value | undefined)[];
    }
  }
}

function notEncrypted(): ThreadmarkError {
  return new ThreadmarkError(
    "KEY",
    "The store was opened without encryption, so it has no keys to rotate. Open it with encryption: { current, keys }.",
  );
}
