import type { Found } from "../../../backend.ts";
import { apply, type Delta, diff } from "../../../codec/delta/index.ts";
import { addSought, type SoughtValues } from "../../../codec/erase.ts";
import type { Json, JsonObject } from "../../../codec/json.ts";
import { jsonText } from "../../../codec/json-text.ts";
import { resolveInState } from "../../../codec/state-references.ts";
import type { Attributes } from "../../../model/attributes.ts";
import type { ErasablePart, ErasableTest } from "../../../model/interface/erasure.ts";
import type { PathStep } from "../../../model/patch.ts";
import { loadReferring } from "../../bodies/load-tree.ts";
import { BatchBuilder } from "../../commits/batch/batch.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { LoadedPack, Tape } from "../../memory/tape.ts";
import { PACK_TABLES, rangeOf } from "../../records/keys.ts";
import { decodeMail, encodeMail, isUsed, type MailEntry } from "../../records/mail.ts";
import { encodeMark, type MarkVersion } from "../../records/marks.ts";
import { changeMeta, encodeMeta, type Meta } from "../../records/meta.ts";
import { encodePack } from "../../records/pack/encode.ts";
import type { Frame } from "../../records/pack/pack.ts";
import type { Row } from "../../records/row.ts";
import { entryChanges } from "../../records/store-wide/index-entries.ts";
import { encodeTailRow } from "../../records/tail.ts";
import { wrapReferring } from "../../records/values.ts";
import type { CarriedTask, StoredWrite } from "../../records/writes.ts";
import { allPacks } from "../../view/lineage/own-rows.ts";
import { writeRecords } from "../../view/lineage/write-records.ts";
import { type BuiltFrame, builtFrames, changedFrame } from "./erased-frames.ts";
import { ErasedValues } from "./large-values.ts";
import { type At, PartEraser, type Path } from "./part-eraser.ts";
import type { PhysicalPlace } from "./physical-place.ts";

/** The values to erase: those at some paths of the state, or those that a function picks. */
export type ErasureTarget = readonly (readonly PathStep[])[] | ErasableTest;

/** Plans the records of a lineage anew, without some values. Hidden rows and old versions are not spared. */
export class LineageErasure {
  readonly batch: BatchBuilder = new BatchBuilder();
  readonly #context: EngineContext;
  readonly #tapes: ReadonlyMap<number, Tape>;
  readonly #target: ErasureTarget;
  readonly #values: ErasedValues;
  readonly #packs = new Map<number, readonly LoadedPack[]>();
  #parts: PartEraser;

  constructor(context: EngineContext, tapes: ReadonlyMap<number, Tape>, target: ErasureTarget) {
    this.#context = context;
    this.#tapes = tapes;
    this.#target = target;
    this.#values = new ErasedValues(context, [...tapes.values()][0] as Tape);
    this.#parts = new PartEraser({ paths: [], texts: new Set(), containers: new Set() }, this.#values);
  }

  /** Returns the places that were erased. */
  get places(): readonly PhysicalPlace[] {
    return this.#parts.places;
  }

  async plan(): Promise<void> {
    for (const tape of this.#tapes.values()) {
      this.batch.check(tape.metaKey, tape.metaValue);
      // A row that was appended since leaves the meta record alone, and may build on a frame that changes.
      this.batch.check(tape.key("tail", tape.lastSeq + 1), undefined);
      this.#packs.set(tape.number, tape.meta.sealed === 0 ? [] : await allPacks(this.#context, tape));
    }
    this.#parts = new PartEraser(await this.#sought(), this.#values);
    for (const tape of this.#tapes.values()) await this.#planTape(tape);
  }

  /** Adds the large values that come anew, and returns the objects outside the store that were written. */
  addValues(lineage: number): Promise<readonly string[]> {
    return this.#values.addTo(this.batch, lineage);
  }

  /** Finds out which values are at the paths, so that they are erased wherever else they stand. */
  async #sought(): Promise<SoughtValues> {
    const texts = new Set<string>();
    const containers = new Set<string>();
    if (typeof this.#target === "function") {
      const decide = this.#target;
      const { codec } = this.#context;
      const test = (path: Path, node: Json, part: ErasablePart): boolean => decide(path, codec.decode(node), part);
      return { paths: [], test, texts, containers };
    }
    const paths = this.#target;
    const add = (state: Json): Promise<void> =>
      this.#values.reading(() =>
        addSought(state, paths, (reference) => this.#values.valueOf(reference), texts, containers),
      );
    for (const tape of this.#tapes.values()) {
      for await (const { tree } of builtFrames(this.#context, tape, this.#packsOf(tape))) {
        await add((tree as JsonObject)["s"] as Json);
      }
      for (const [seq, versions] of tape.marks) {
        for (const { change } of versions)
          if (change) await add((await this.#replaced(tape, seq, change))["s"] as Json);
      }
    }
    return { paths, texts, containers };
  }

  #packsOf(tape: Tape): readonly LoadedPack[] {
    return this.#packs.get(tape.number) as readonly LoadedPack[];
  }

  async #replaced(tape: Tape, seq: number, change: Delta): Promise<JsonObject> {
    return apply((await loadReferring(this.#context, tape, seq)).tree, change) as JsonObject;
  }

  async #planTape(tape: Tape): Promise<void> {
    let { meta } = tape;
    await this.#planFrames(tape);
    await this.#planMarks(tape);
    await this.#planWrites(tape);
    await this.#planMail(tape);
    const attributes = await this.#attributes(tape);
    // Readers that have seen frames from before, of any tape of the lineage, find out that these have other content now.
    meta = changeMeta(meta, {
      rewrites: meta.rewrites + 1,
      folds: (meta.folds ?? 0) + 1,
      ...(attributes && { attributes }),
    });
    this.batch.put(tape.metaKey, encodeMeta(meta as Meta));
    if (attributes) this.batch.changeEntries(entryChanges(tape, tape.meta, meta));
  }

  async #planFrames(tape: Tape): Promise<void> {
    const frames = new Map<number, Frame>();
    const changed = new Set<number>();
    for await (const built of builtFrames(this.#context, tape, this.#packsOf(tape))) {
      const { row } = built;
      const at: At = { tape, seq: row.seq, namespace: row.namespace, checkpoint: row.id };
      const frame = await this.#values.reading(() => {
        const hits: [ErasablePart, Path][] = [];
        const result = changedFrame(built, (tree) => this.#parts.body(tree, tree === built.tree ? hits : undefined));
        return { ...result, hits };
      });
      const now = await this.#parts.row(frame.row, at);
      for (const [part, path] of frame.hits) this.#parts.note(at, part, path);
      const isOther = frame.change !== built.change;
      const writes = await this.#carried(tape, frames.get(row.seq - 1)?.row, built, isOther);
      if (isOther || now !== row || writes !== built.writes) changed.add(row.seq);
      frames.set(row.seq, { row: now, change: frame.change, writes });
    }
    const frameOf = ({ seq }: Row): Frame => frames.get(seq) as Frame;
    for (const { rows } of this.#packsOf(tape)) {
      if (!rows.some(({ seq }) => changed.has(seq))) continue;
      const encoded = encodePack(tape.number, rows.map(frameOf), this.#context.compression);
      for (const table of PACK_TABLES) this.batch.put(tape.key(table, encoded.last), encoded[table]);
    }
    for (const { row, count, root } of tape.tail) {
      if (!changed.has(row.seq)) continue;
      const frame = frameOf(row);
      const writes = frame.writes === undefined ? undefined : jsonText(frame.writes as unknown as Json);
      const value = encodeTailRow(frame.row, count, root, frame.change, undefined, undefined, writes);
      this.batch.put(tape.key("tail", row.seq), value);
    }
  }

  /** Erases in the writes that a row carries. Where they or its state change, references into the state give way to the values. */
  async #carried(
    tape: Tape,
    parent: Row | undefined,
    { tree, writes: tasks }: BuiltFrame,
    isOther: boolean,
  ): Promise<Frame["writes"]> {
    if (tasks === undefined) return undefined;
    const { namespace = "", id = "" } = parent ?? {};
    const kept: CarriedTask[] = [];
    let changed = isOther;
    for (const task of tasks) {
      const writes: StoredWrite[] = [];
      for (const [index, channel, value] of task.writes) {
        const node = resolveInState(value, (tree as JsonObject)["s"] as Json);
        const left = await this.#parts.value(node, "write", { tape, namespace, checkpoint: id }, [channel]);
        changed ||= left !== node;
        writes.push([index, channel, left]);
      }
      kept.push({ ...task, writes });
    }
    return changed ? kept : tasks;
  }

  async #planMarks(tape: Tape): Promise<void> {
    for (const [seq, versions] of tape.marks) {
      const kept: MarkVersion[] = [];
      for (const version of versions) kept.push(await this.#version(tape, seq, version));
      if (kept.some((version, index) => version !== versions[index])) {
        this.batch.put(tape.key("mark", seq), encodeMark(kept));
      }
    }
  }

  async #version(tape: Tape, seq: number, version: MarkVersion): Promise<MarkVersion> {
    const at: At = {
      tape,
      seq,
      ...(version.row && { checkpoint: version.row.id, namespace: version.row.namespace ?? "" }),
    };
    let now = version;
    if (version.label !== undefined && version.label !== "") {
      const label = (await this.#parts.value(version.label, "label", at)) as string;
      if (label !== version.label) now = { ...now, label };
    }
    if (version.row) {
      const row = await this.#parts.rowRecord(version.row, at);
      if (row !== version.row) now = { ...now, row };
    }
    if (version.change === undefined) return now;
    const { tree } = await loadReferring(this.#context, tape, seq);
    const after = apply(tree, version.change);
    const hits: [ErasablePart, Path][] = [];
    const [before, left] = await this.#values.reading(() => {
      hits.length = 0;
      return [this.#parts.body(tree), this.#parts.body(after, hits)] as const;
    });
    for (const [part, path] of hits) this.#parts.note(at, part, path);
    return before === tree && left === after ? now : { ...now, change: diff(before, left) ?? {} };
  }

  async #planWrites(tape: Tape): Promise<void> {
    for (const { item, part, value, tasks } of await writeRecords(this.#context, tape)) {
      let changed = false;
      const kept = [];
      for (const task of tasks) {
        const { namespace = "", checkpoint } = task;
        const writes: StoredWrite[] = [];
        for (const [index, channel, node] of task.writes) {
          const left = await this.#parts.value(node, "write", { tape, namespace, checkpoint }, [channel]);
          changed ||= left !== node;
          writes.push([index, channel, left]);
        }
        kept.push({ ...task, writes });
      }
      if (!changed) continue;
      const key = tape.key("write", item, part);
      // A concurrent putWrites does not change the meta record, so the commit must check the record itself.
      this.batch.check(key, value);
      this.batch.put(key, wrapReferring(kept));
    }
  }

  async #planMail(tape: Tape): Promise<void> {
    if (!tape.meta.mail) return;
    const [found] = (await this.#context.read([{ scan: rangeOf(tape, "mail") }])) as readonly [readonly Found[]];
    for (const { item, part, value } of found) {
      const entries = decodeMail(value);
      const kept: MailEntry[] = [];
      for (const entry of entries) {
        if (isUsed(entry)) kept.push(entry);
        else kept.push({ ...entry, payload: await this.#parts.value(entry.payload, "mail", { tape }) });
      }
      const isSame = kept.every(
        (entry, index) => isUsed(entry) || entry.payload === (entries[index] as typeof entry).payload,
      );
      if (!isSame) this.batch.put(tape.key("mail", item, part), encodeMail(kept));
    }
  }

  async #attributes(tape: Tape): Promise<Attributes | undefined> {
    const { attributes } = tape.meta;
    if (!attributes) return undefined;
    const now: [string, Attributes[string]][] = [];
    for (const [name, value] of Object.entries(attributes)) {
      now.push([name, (await this.#parts.value(value, "attribute", { tape }, [name])) as Attributes[string]]);
    }
    return now.every(([name, value]) => attributes[name] === value) ? undefined : Object.fromEntries(now);
  }
}
