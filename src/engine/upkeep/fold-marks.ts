import { apply, type Delta, diff } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import { loadReferring } from "../bodies/load-tree.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { MarkVersion } from "../records/marks.ts";
import { levels } from "../view/lineage/levels.ts";
import { homeOf } from "../view/row-at.ts";
import { shownRows } from "../view/shown-rows.ts";

/** The marks of a lineage after a compaction, and the frames that replacements are folded into. */
export interface Folds {
  /** How many frames get other content. */
  readonly count: number;
  /** Whether a version of a mark stays: some living thread shows it. */
  stays(version: MarkVersion): boolean;
  /** The new content of a frame, if it gets any. */
  tree(home: Tape, seq: number): Json | undefined;
  /** Frames whose own label nobody shows any more, as `tape:seq`. */
  readonly unlabelled: ReadonlySet<string>;
  /** Returns the versions of a mark that stay: the given array itself if all do, unchanged. */
  versions(versions: readonly MarkVersion[]): readonly MarkVersion[];
}

/** A marked frame, and the versions of it that living threads show; undefined: the frame as it is. */
interface Marked {
  readonly home: Tape;
  readonly seq: number;
  readonly contents: Set<MarkVersion | undefined>;
  /** The versions among them whose own label is shown, too. */
  readonly labels: Set<MarkVersion | undefined>;
}

/**
 * Versions that no living thread shows go. A frame whose own content nobody shows any more, since every thread that
 * shows the checkpoint shows a replacement, takes the content of one of these: then the old one is nowhere.
 */
export async function foldMarks(context: EngineContext, tapes: ReadonlyMap<number, Tape>): Promise<Folds> {
  const used = new Set<MarkVersion>();
  const trees = new Map<string, Json>();
  const shownAs = new Map<MarkVersion, MarkVersion>();
  const labelled = new Set<MarkVersion>();
  const unlabelled = new Set<string>();
  for (const { home, seq, contents, labels } of await markedFrames(context, tapes, used)) {
    const shown = [...contents];
    if (!labels.has(undefined)) unlabelled.add(`${home.number}:${seq}`);
    for (const version of labels) if (version) labelled.add(version);
    if (shown.some((version) => version === undefined || isEmpty(version.change))) continue;
    const { tree } = await loadReferring(context, home, seq);
    const [first, ...others] = shown as MarkVersion[];
    if (!first) continue;
    const content = apply(tree, first.change as Delta);
    trees.set(`${home.number}:${seq}`, content);
    shownAs.set(first, { ...first, change: {} });
    for (const version of others) {
      shownAs.set(version, { ...version, change: diff(content, apply(tree, version.change as Delta)) ?? {} });
    }
  }
  return {
    count: trees.size,
    unlabelled,
    stays: (version) => used.has(version),
    tree: (home, seq) => trees.get(`${home.number}:${seq}`),
    versions: (versions) => {
      const kept = versions
        .filter((version) => used.has(version))
        .map((version) => {
          const now = shownAs.get(version) ?? version;
          return labelled.has(version) ? now : withoutLabel(now);
        });
      return kept.length === versions.length && kept.every((version, index) => version === versions[index])
        ? versions
        : kept;
    },
  };
}

/** Returns a version without the label of its row, for a replacement that is shown under another label. */
function withoutLabel(version: MarkVersion): MarkVersion {
  if (version.row?.label === undefined) return version;
  const { label: _, ...row } = version.row;
  return { ...version, row };
}

function isEmpty(change: Delta | undefined): boolean {
  return change === undefined || Object.keys(change).length === 0;
}

async function markedFrames(
  context: EngineContext,
  tapes: ReadonlyMap<number, Tape>,
  used: Set<MarkVersion>,
): Promise<Iterable<Marked>> {
  const marked = new Map<string, Marked>();
  const seqs = new Set([...tapes.values()].flatMap((tape) => [...tape.marks.keys()]));
  if (seqs.size === 0) return [];
  for (const tape of tapes.values()) {
    if (tape.meta.dead) continue;
    for await (const { seq } of shownRows(context, tape)) {
      if (!seqs.has(seq)) continue;
      const home = await homeOf(context, tape, seq);
      const name = `${home.number}:${seq}`;
      const entry = marked.get(name) ?? { home, seq, contents: new Set(), labels: new Set() };
      marked.set(name, entry);
      const { version, labelled } = await shownVersion(context, tape, seq, used);
      entry.contents.add(version);
      if (!labelled) entry.labels.add(version);
    }
  }
  return marked.values();
}

/** Returns the replacement that a thread shows of a row, if any, and whether under another label. Adds shown versions to `used`. */
async function shownVersion(
  context: EngineContext,
  tape: Tape,
  seq: number,
  used: Set<MarkVersion>,
): Promise<{ readonly version: MarkVersion | undefined; readonly labelled: boolean }> {
  let labelled = false;
  for await (const { tape: level, generation } of levels(context, tape, seq)) {
    const seen = (level.marks.get(seq) ?? []).filter((version) => version.generation <= generation);
    const index = seen.findLastIndex((version) => version.row !== undefined);
    const label = seen.slice(index + 1).findLast((version) => version.label !== undefined);
    if (label && !labelled) {
      used.add(label);
      labelled = true;
    }
    const replacement = seen[index];
    if (replacement) {
      used.add(replacement);
      return { version: replacement, labelled };
    }
  }
  return { version: undefined, labelled };
}
