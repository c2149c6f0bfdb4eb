import type { Line, Operation } from "./told.ts";

/** An operation as it was told, with the moments of its beginning and end. */
export interface Told extends Operation {
  readonly worker: string;
  readonly begin: number;
  /** Infinity while it is open, and for good if its worker was killed meanwhile. */
  end: number;
  /** `open`: it may have happened. `refused`: it must not have. */
  outcome: "open" | "done" | "refused";
}

/** Refusals that are to be expected where several processes want the same. */
const expected = new Set(["BUSY", "CONFLICT", "FENCED", "NOT_FOUND"]);

/** Collects the messages of the workers at one place, by subject. */
export class Ledger {
  readonly counts = new Map<string, number>();
  /** Failures that no other process explains, with what failed. */
  readonly surprises: string[] = [];
  readonly #operations = new Map<string, Told>();
  readonly #byThread = new Map<string, Told[]>();
  readonly #byCheckpoint = new Map<string, Told[]>();
  readonly #puts = new Map<string, Told[]>();
  readonly #makers = new Map<string, Told>();

  note(worker: string, line: Line): void {
    if ("begin" in line) this.#begin(worker, line.begin, line.at, line.operation);
    else if ("end" in line) this.#end(this.#operations.get(`${worker} ${line.end}`) as Told, line);
  }

  #begin(worker: string, number: number, begin: number, operation: Operation): void {
    const told: Told = { ...operation, worker, begin, end: Infinity, outcome: "open" };
    this.#operations.set(`${worker} ${number}`, told);
    if (told.checkpoint !== undefined && told.kind !== "fork") add(this.#byCheckpoint, nameOf(told), told);
    else add(this.#byThread, told.thread, told);
    if (told.kind === "put") add(this.#puts, told.thread, told);
    if (told.into !== undefined) this.#makers.set(told.into, told);
    this.#count("begun");
    this.#count(told.kind);
  }

  #end(told: Told, { at, code, message }: { at: number; code?: string; message?: string }): void {
    if (code === undefined) {
      this.#count("acknowledged");
      told.end = at;
      told.outcome = "done";
      return;
    }
    this.#count(`${told.kind}: ${code}`);
    if (!expected.has(code)) this.surprises.push(`${told.kind} on ${told.thread}: ${code}: ${message}`);
    // Whether a commit happened whose answer was lost is found out like that of a killed worker.
    if (code === "UNKNOWN") return;
    told.end = at;
    told.outcome = "refused";
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** Every thread that was written to, forked, copied or imported. */
  threads(): ReadonlySet<string> {
    return new Set([...this.#puts.keys(), ...this.#makers.keys()]);
  }

  /** The operations on a whole thread: prunes, drops, imports, leases. */
  onThread(thread: string): readonly Told[] {
    return this.#byThread.get(thread) ?? [];
  }

  /** The operations that name a checkpoint of this very thread. */
  onCheckpoint(thread: string, namespace: string, checkpoint: string): readonly Told[] {
    return this.#byCheckpoint.get(nameOf({ thread, namespace, checkpoint })) ?? [];
  }

  /** The checkpoints that were put into this very thread. */
  putInto(thread: string): readonly Told[] {
    return this.#puts.get(thread) ?? [];
  }

  /** The fork or copy that made a thread; undefined for a shared one. */
  makerOf(thread: string): Told | undefined {
    return this.#makers.get(thread);
  }

  all(kind: Told["kind"]): Told[] {
    return [...this.#operations.values()].filter((told) => told.kind === kind);
  }
}

function nameOf({ thread, namespace = "", checkpoint }: Pick<Told, "thread" | "namespace" | "checkpoint">): string {
  return JSON.stringify([thread, namespace, checkpoint]);
}

function add<K>(map: Map<K, Told[]>, key: K, told: Told): void {
  const there = map.get(key);
  if (there) there.push(told);
  else map.set(key, [told]);
}
