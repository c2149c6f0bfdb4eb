import { Eraser, type SoughtValues } from "../../../codec/erase.ts";
import type { Json, JsonObject } from "../../../codec/json.ts";
import { parseNamespaceKey } from "../../../model/address.ts";
import type { ErasablePart } from "../../../model/interface/erasure.ts";
import type { PathStep } from "../../../model/patch.ts";
import type { Tape } from "../../memory/tape.ts";
import type { Row, RowRecord } from "../../records/row.ts";
import { nameOf } from "../../records/writes.ts";
import type { ErasedValues } from "./large-values.ts";
import type { PhysicalPlace } from "./physical-place.ts";

export type Path = readonly PathStep[];

/** The address of a record, for the places that are told. */
export interface At {
  readonly tape: Tape;
  readonly seq?: number;
  readonly namespace?: string;
  readonly checkpoint?: string;
}

/** The parts of a body beside the state, by the names that places are told under. Node names stay. */
const parts = { n: "next", c: "completed", i: "interrupts", b: "barriers" } as const;

/** Erases values in the parts of a lineage's records, and notes each place. */
export class PartEraser {
  readonly places: PhysicalPlace[] = [];
  readonly #eraser: Eraser;
  readonly #paths: readonly Path[];
  readonly #values: ErasedValues;

  constructor(sought: SoughtValues, values: ErasedValues) {
    this.#eraser = new Eraser(sought, values);
    this.#paths = sought.paths;
    this.#values = values;
  }

  /** Erases in a body. `hits` get the places in it. */
  body(tree: Json, hits?: [ErasablePart, Path][]): Json {
    const body = tree as JsonObject;
    const state = this.#eraser.erase(body["s"] as Json, "state", [], this.#paths);
    for (const hit of state.hits) hits?.push(["state", hit]);
    let copy = state.node === body["s"] ? body : { ...body, s: state.node };
    for (const [key, name] of Object.entries(parts)) {
      const part = this.#eraser.erase(body[key] as Json, "checkpoint", [name]);
      if (part.node === body[key]) continue;
      copy = { ...copy, [key]: part.node };
      for (const hit of part.hits) hits?.push(["checkpoint", [name, ...hit]]);
    }
    return copy;
  }

  /** Erases in the label and the metadata of a row. */
  async row(row: Row, at: At): Promise<Row> {
    const label = row.label === "" ? "" : await this.value(row.label, "label", at);
    const metadata = row.metadata === null ? null : await this.value(row.metadata, "metadata", at);
    return label === row.label && metadata === row.metadata ? row : { ...row, label: label as string, metadata };
  }

  /** Erases in the label and the metadata of a row that a mark has. */
  async rowRecord(row: RowRecord, at: At): Promise<RowRecord> {
    const { label, metadata } = row;
    const now: RowRecord = { ...row };
    if (label !== undefined) now.label = (await this.value(label, "label", at)) as string;
    if (metadata !== undefined) now.metadata = await this.value(metadata, "metadata", at);
    return now.label === label && now.metadata === metadata ? row : now;
  }

  /** Erases in one value beside the bodies, and notes the places. Paths of the state also apply to writes of their channel. */
  async value(node: Json, part: ErasablePart, at: At, above: Path = []): Promise<Json> {
    const [channel] = above;
    const paths =
      part === "write" ? this.#paths.filter(([first]) => first === channel).map((path) => path.slice(1)) : [];
    const { node: left, hits } = await this.#values.reading(() => this.#eraser.erase(node, part, above, paths));
    for (const hit of hits) this.note(at, part, [...above, ...hit]);
    return left;
  }

  note({ tape, seq, namespace = "", checkpoint }: At, part: ErasablePart, path: Path): void {
    const place = {
      thread: tape.meta.thread,
      namespace: parseNamespaceKey(namespace),
      checkpoint: checkpoint ?? null,
      part,
      path,
    };
    const written = part === "write" ? nameOf({ namespace, checkpoint: checkpoint as string }) : undefined;
    this.places.push({ tape, seq, written, place });
  }
}
