import type { Host } from "./address.ts";
import { nameOf } from "./address.ts";

/** Which server has which slots of a cluster. */
export interface SlotMap {
  readonly masters: readonly Host[];
  readonly others: readonly Host[];
  /** Differs between maps in which a slot has another master. */
  readonly name: string;
  hostOf(slot: number): Host | undefined;
}

type Server = readonly [host: Buffer | null, port: number, ...rest: unknown[]];
type Row = readonly [from: number, to: number, master: Server, ...replicas: Server[]];

/** Reads an answer to `CLUSTER SLOTS`. A server that does not know its own name means the one that was asked. */
export function slotMapOf(answer: unknown, asked: Host): SlotMap {
  const hostOf = ([host, port]: Server): Host => ({ host: host?.toString() || asked.host, port });
  const rows = (answer as readonly Row[]).map(([from, to, master, ...replicas]) => ({
    from,
    to,
    master: hostOf(master),
    replicas: replicas.map(hostOf),
  }));
  rows.sort((left, right) => left.from - right.from);
  const masters = distinct(rows.map(({ master }) => master));
  return {
    masters,
    others: distinct(rows.flatMap(({ replicas }) => replicas)),
    name: rows.map(({ from, to, master }) => `${from}-${to} ${nameOf(master)}`).join(),
    hostOf: (slot) => rows.find(({ from, to }) => slot >= from && slot <= to)?.master,
  };
}

function distinct(hosts: readonly Host[]): readonly Host[] {
  return [...new Map(hosts.map((host) => [nameOf(host), host])).values()];
}
