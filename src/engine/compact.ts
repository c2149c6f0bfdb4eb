import type { Batch, Entry, Key, Range } from "../backend.ts";
import { apply, type Delta, diff, replacement } from "../codec/delta.ts";
import type { Json } from "../codec/json.ts";
import { isBuiltOn, lineageMetas, recordsOf } from "./delete.ts";
import type { Engine } from "./engine.ts";
import { changeMeta, encodeMeta, type Meta } from "./meta.ts";
import { type Doomed, rewriteTape } from "./rewrite.ts";
import type { Row } from "./row.ts";
import { encodeMark, type Tape } from "./tape.ts";
import { allThreads } from "./threads.ts";
import { loadTree } from "./tree.ts";
import { homeOf, NOW, nestedLimit, ownRow, shownRows } from "./view.ts";
import { withoutTasks } from "./writes-removal.ts";

/** Writes that wait for their checkpoint longer than this are dropped. */
const ORPHAN_AGE = 24 * 60 * 60 * 1000;
const ATTEMPTS = 20;

/** Removes from storage what no thread shows any more, lineage by lineage, then lets the backend give the room back. */
export async function compactStore(engine: Engine): Promise<void> {
  const lineages = new Set<number>();
  for await (const tape of allThreads(engine)) lineages.add(tape.lineage);
  for (const lineage of lineages) {
    for (let attempt = 0; ; attempt += 1) {
      if (await compactLineage(engine, lineage)) break;
      // Somebody wrote meanwhile. A lineage that never rests is left for the next compaction.
      if (attempt === ATTEMPTS) break;
    }
  }
  await engine.backend.compact();
}

async function compactLineage(engine: Engine, lineage: number): Promise<boolean> {
  // What the engine remembers goes on changing while this looks at everything: it gets a memory of its own.
  const own = engine.fresh();
  const metas = await lineageMetas(own, lineage);
  const tapes = new Map<number, Tape>();
  for (const number of metas.keys()) {
    const tape = await own.refresh(number, lineage);
    if (tape) tapes.set(number, tape);
  }
  const batch = await new LineageCompaction(own, tapes).plan();
  return !batch || engine.committer.commit(batch);
}

class LineageCompaction {
  readonly #engine: Engine;
  readonly #tapes: ReadonlyMap<number, Tape>;
  readonly #deletes: (Key | Range)[] = [];
  readonly #puts: Entry[] = [];
  readonly #checks: { readonly key: Key; readonly value: Tape["metaValue"] | undefined }[] = [];

  /** The first seq each tape has not given out: if one has by the time of the commit, it all starts again. */
  readonly #next: ReadonlyMap<number, Key>;

  constructor(engine: Engine, tapes: ReadonlyMap<number, Tape>) {
    this.#engine = engine;
    this.#tapes = tapes;
    this.#next = new Map([...tapes].map(([number, tape]) => [number, tape.key("tail", tape.lastSeq + 1)]));
    for (const tape of tapes.values()) this.#checks.push({ key: tape.metaKey, value: tape.metaValue });
  }

  async plan(): Promise<Batch | undefined> {
    const shown = await this.#shownSeqs();
    const doomed = await this.#doomed(shown);
    let changed = false;
    for (const tape of this.#tapes.values()) {
      const meta = await this.#compactTape(tape, shown.get(tape.number) ?? new Set(), doomed);
      if (meta === tape.meta) continue;
      changed = true;
      if (meta === undefined) this.#deletes.push(...recordsOf(tape.lineage, tape.number), tape.metaKey);
      else this.#puts.push({ key: tape.metaKey, value: encodeMeta(meta) });
    }
    if (!changed && this.#puts.length + this.#deletes.length === 0) return undefined;
    return { checks: this.#checks, deletes: this.#deletes, puts: this.#puts };
  }

  /** By tape, the seqs that any living thread shows of it. */
  async #shownSeqs(): Promise<Map<number, Set<number>>> {
    const shown = new Map<number, Set<number>>();
    for (const tape of this.#tapes.values()) {
      if (tape.meta.dead) continue;
      for await (const row of shownRows(this.#engine, tape)) {
        const home = await homeOf(this.#engine, tape, row.seq);
        const seqs = shown.get(home.number) ?? new Set();
        shown.set(home.number, seqs.add(row.seq));
      }
    }
    return shown;
  }

  async #doomed(shown: ReadonlyMap<number, ReadonlySet<number>>): Promise<Doomed> {
    const doomed = new Map<number, ReadonlySet<number>>();
    for (const tape of this.#tapes.values()) {
      const keep = shown.get(tape.number);
      const gone = (await this.#ownRows(tape)).map((row) => row.seq).filter((seq) => !keep?.has(seq));
      if (gone.length > 0) doomed.set(tape.number, new Set(gone));
    }
    return doomed;
  }

  async #ownRows(tape: Tape): Promise<Row[]> {
    const [packs] = await this.#engine.read([{ scan: { table: "rows", lineage: tape.lineage, group: tape.number } }]);
    const sealed = (packs as readonly { item: number; part: number; value: string }[]).flatMap(
      (found) => tape.addPack(found).rows,
    );
    return [...sealed, ...tape.tail.map((entry) => entry.row)];
  }

  /** The tape's meta record as it is to be; the same one if nothing changes, undefined if the tape goes. */
  async #compactTape(tape: Tape, shown: ReadonlySet<number>, doomed: Doomed): Promise<Meta | undefined> {
    const metas = new Map([...this.#tapes].map(([number, { meta }]) => [number, meta]));
    const builtOn = isBuiltOn(metas, tape.number);
    if (tape.meta.dead && !builtOn) return undefined;
    let { meta } = tape;
    const change = (fields: { readonly [K in keyof Meta]?: Meta[K] | undefined }): void => {
      meta = changeMeta(meta, fields);
    };
    const limit = await this.#settledLimit(tape);
    if (meta.origin && limit !== undefined) change({ origin: { ...meta.origin, limit } });
    const folded = await this.#foldMarks(tape, builtOn);
    const rewrite = await rewriteTape(this.#engine, tape, doomed, folded.frames);
    const rewritten = rewrite.deletes.length + rewrite.puts.length + rewrite.inserts.length > 0;
    if (rewritten) {
      this.#deletes.push(...rewrite.deletes);
      this.#puts.push(...rewrite.inserts, ...rewrite.puts);
      this.#checks.push({ key: this.#next.get(tape.number) as Key, value: undefined });
      change(rewrite.meta);
    }
    if (folded.marks !== undefined) change({ marks: folded.marks });
    const gone = meta.gone && this.#remainingGone(tape, meta.gone, doomed);
    if (gone && gone.length !== meta.gone?.length) change({ gone: gone.length === 0 ? undefined : gone });
    const removed = [...(await this.#ownRows(tape))].filter(
      (row) => !doomed.get(tape.number)?.has(row.seq) && !tape.meta.dead && tape.isGone(row.seq, NOW),
    ).length;
    if (removed !== meta.removed) change({ removed });
    await this.#dropWrites(tape, shown, doomed);
    return meta;
  }

  /** Rows that delimit what a fork shows may go: what they say is written down first. */
  async #settledLimit(tape: Tape): Promise<number | undefined> {
    const { origin } = tape.meta;
    if (origin?.mode !== "chain" || origin.limit !== undefined) return undefined;
    return nestedLimit(this.#engine, origin, await this.#engine.sourceOf(tape, origin));
  }

  /** Ranges of which some row is still there, because a fork shows it. */
  #remainingGone(tape: Tape, gone: NonNullable<Meta["gone"]>, doomed: Doomed): NonNullable<Meta["gone"]> {
    const upTo = tape.meta.origin?.upTo ?? 0;
    const own = [...tape.packs.flatMap((pack) => pack.rows), ...tape.tail.map((entry) => entry.row)].map(
      (row) => row.seq,
    );
    const stays = own.filter((seq) => !doomed.get(tape.number)?.has(seq));
    return gone.filter(([from, to]) => from <= upTo || stays.some((seq) => seq >= from && seq <= to));
  }

  /**
   * A replaced checkpoint of a tape that nobody builds on: its frame takes the new content, and the frames after it are
   * found anew against that. Where a fork may still show the old content, both stay.
   */
  async #foldMarks(tape: Tape, builtOn: boolean): Promise<{ frames: Map<number, Delta>; marks?: true | undefined }> {
    const frames = new Map<number, Delta>();
    if (tape.marks.size === 0 || builtOn) return { frames };
    const upTo = tape.meta.origin?.upTo ?? 0;
    const trees = new Map<number, Json>();
    const rows = await this.#ownRows(tape);
    const present = new Set(rows.map((row) => row.seq));
    let left = 0;
    for (const [seq, versions] of tape.marks) {
      const last = versions.findLast((version) => version.row !== undefined);
      if (seq > upTo && !present.has(seq)) this.#deletes.push(tape.key("mark", seq));
      else if (last?.row === undefined || seq <= upTo) {
        left += 1;
        const label = versions.at(-1);
        if (versions.length > 1 && label && seq > upTo)
          this.#puts.push({ key: tape.key("mark", seq), value: encodeMark([label]) });
      } else {
        const { tree } = await loadTree(this.#engine, tape, seq);
        trees.set(seq, apply(tree, structuredClone(last.change as Delta)));
        left += 1;
        // The row's metadata stays a mark; its body is the frame's own now.
        const kept = versions
          .slice(versions.indexOf(last))
          .map((version) => (version === last ? { ...version, change: {} } : version));
        this.#puts.push({ key: tape.key("mark", seq), value: encodeMark(kept) });
      }
    }
    for (const row of rows) {
      const tree = trees.get(row.seq);
      const parentTree = trees.get(row.parent);
      if (tree === undefined && parentTree === undefined) continue;
      const after = tree ?? (await loadTree(this.#engine, tape, row.seq)).tree;
      const before =
        parentTree ?? (row.parent === 0 ? undefined : (await loadTree(this.#engine, tape, row.parent)).tree);
      frames.set(
        row.seq,
        before === undefined || !present.has(row.parent) ? replacement(after) : (diff(before, after) ?? {}),
      );
    }
    return { frames, marks: left > 0 ? true : undefined };
  }

  /** Writes of checkpoints that went, and those that have waited for theirs too long. */
  async #dropWrites(tape: Tape, shown: ReadonlySet<number>, doomed: Doomed): Promise<void> {
    const ids = new Set<string>();
    if (!tape.meta.dead) for await (const row of shownRows(this.#engine, tape)) ids.add(`${row.namespace}\0${row.id}`);
    for (const seq of shown) {
      const row = await ownRow(this.#engine, tape, seq);
      if (row) ids.add(`${row.namespace}\0${row.id}`);
    }
    const lost = new Set<string>();
    for (const seq of doomed.get(tape.number) ?? []) {
      const row = await ownRow(this.#engine, tape, seq);
      if (row) lost.add(`${row.namespace}\0${row.id}`);
    }
    const now = this.#engine.clock();
    const freed = await withoutTasks(this.#engine, tape, (entry) => {
      const name = `${entry.namespace ?? ""}\0${entry.checkpoint}`;
      return !ids.has(name) && (lost.has(name) || (!entry.cut && now - entry.at > ORPHAN_AGE));
    });
    this.#deletes.push(...freed.deletes);
    this.#puts.push(...freed.puts);
  }
}
