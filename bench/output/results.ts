import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import type { Point, Table, Target } from "../harness/report.ts";

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memory: number;
  readonly system: string;
  readonly node: string;
  readonly sqlite: string;
  /** Processes that wanted to run when the measuring began: what else the machine had to do. */
  readonly load: number;
}

/** The findings of a run, for programs and for the documentation. */
export interface Results {
  readonly began: string;
  readonly machine: Machine;
  readonly quick: boolean;
  /** By part. */
  readonly seconds: Readonly<Record<string, number>>;
  readonly targets: readonly Target[];
  readonly tables: readonly Table[];
  readonly points: readonly Point[];
  /** Parts that were measured again later, and when, with what load: theirs took the place of what the full run had found. */
  readonly again?: Readonly<Record<string, string>>;
}

const full = new URL("../results.json", import.meta.url);
const partial = new URL("../partial.json", import.meta.url);

export function machine(): Machine {
  return {
    processor: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memory: totalmem(),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
    sqlite: process.versions["sqlite"] ?? "none",
    load: loadavg()[0] ?? 0,
  };
}

/** Writes the results. Results of a full run are kept with the sources, because the documentation shows them. */
export function writeResults(results: Results, whole: boolean): void {
  writeFileSync(whole ? full : partial, `${JSON.stringify(results, null, 2)}\n`);
}

/** A full run's results with those of some parts measured again. */
export function withParts(whole: Results, later: Results): Results {
  const parts = Object.keys(later.seconds);
  const kept = <T extends { readonly part: string }>(all: readonly T[], some: readonly T[]): T[] => {
    const order = Object.keys(whole.seconds);
    const merged = [...all.filter(({ part }) => !parts.includes(part)), ...some];
    return merged.sort((a, b) => order.indexOf(a.part) - order.indexOf(b.part));
  };
  return {
    ...whole,
    seconds: { ...whole.seconds, ...later.seconds },
    targets: kept(whole.targets, later.targets),
    tables: kept(whole.tables, later.tables),
    points: later.points.length > 0 ? later.points : whole.points,
    again: { ...whole.again, ...Object.fromEntries(parts.map((part) => [part, when(later)])) },
  };
}

function when({ began, machine: { load } }: Results): string {
  return `${began.slice(0, 16).replace("T", " ")}, load ${load.toFixed(0)}`;
}

export function readResults(): Results {
  return JSON.parse(readFileSync(full, "utf8")) as Results;
}
