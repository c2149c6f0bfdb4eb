import type { Json } from "../../../codec/json.ts";
import { addressedId } from "../../../model/id.ts";
import type { Row } from "../../records/row.ts";
import type { Shown } from "../../view/row-at.ts";
import type { CapturedPut } from "./capture.ts";

/** The fields of a new row that the engine decides. */
interface Identity {
  readonly seq: number;
  readonly id: string;
  /** The time of the put. */
  readonly now: number;
  /** True if the frame may hold tagged values. */
  readonly tagged: boolean;
}

/** A row that a put has planned, and the id of its parent. */
export interface PlannedRow {
  readonly row: Row;
  readonly parent: string | null;
}

/** Returns an id that tells the row's address; a random one where an address does not fit. */
export function newId(now: number, tape: number, seq: number): string {
  return addressedId(now, tape, seq) ?? crypto.randomUUID();
}

/** Makes the row of a put: from the captured fields, and by default from the parent's. */
export function newRow(captured: CapturedPut, parent: Shown | undefined, { seq, id, now, tagged }: Identity): Row {
  const { fields, parts } = captured;
  return {
    seq,
    id,
    namespace: captured.namespace,
    parent: parent?.seq ?? 0,
    base: parent?.seq ?? 0,
    step: fields.step ?? (parent ? stepAfter(parent) : 0),
    source: fields.source,
    node: fields.node,
    run: fields.run === undefined ? (parent?.run ?? null) : fields.run,
    workflow: fields.workflow === undefined ? (parent?.workflow ?? null) : fields.workflow,
    label: fields.label,
    createdAt: fields.createdAt ?? now,
    stateVersion: fields.stateVersion ?? parent?.stateVersion ?? 0,
    metadata: fields.metadata,
    pending: (parts.next as Json[]).length,
    waiting: (parts.interrupts as Json[]).length,
    questions: fields.questions,
    tagged,
  };
}

/** Makes the row that a fork puts on top of the checkpoint it begins with. */
export function newForkRow(at: Shown, label: string, { seq, id, now, tagged }: Identity): Row {
  return { ...at, seq, id, parent: at.seq, base: at.seq, source: "fork", label, createdAt: now, tagged };
}

function stepAfter({ step }: Shown): number {
  if (step === Number.MAX_SAFE_INTEGER) throw new TypeError(`step: there is none after ${step}. Give one.`);
  return step + 1;
}
