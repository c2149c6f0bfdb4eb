/*
 * A simulation of many threads on a store: callers, group commit, caches, shards and their servers, in virtual time. Costs are
 * measured ones (`measured.json`). It leaves out everything that does not change a figure by half.
 */

/** Measured costs, in microseconds and bytes. */
export interface Costs {
  /** The part of a commit call that does not depend on its size: a round trip, a transaction, a sync. */
  readonly call: number;
  /** A thread's first checkpoint, in a call with others. */
  readonly create: number;
  /** Another checkpoint of a thread that is remembered. */
  readonly step: number;
  /** Reading a thread that is not remembered, before its next checkpoint. */
  readonly cold: number;
  readonly bytesOfThread: number;
  readonly bytesOfStep: number;
  /** Memory that a remembered thread takes. */
  readonly remembered: number;
}

export interface Deployment {
  readonly processes: number;
  /** Callers of each process that wait for their own commit before the next. */
  readonly callers: number;
  readonly commitsAtOnce: number;
  /** Threads that each process remembers. */
  readonly remembered: number;
  readonly servers: number;
  /** The parts of the store: a lineage is in one, and each server has some of them. */
  readonly shards: number;
}

/** The work of the callers. `pick` returns the thread of an operation by its number. */
export interface Workload {
  readonly operations: number;
  readonly kind: "create" | "step";
  pick(operation: number): number;
}

export interface Outcome {
  readonly seconds: number;
  readonly perSecond: number;
  /** The part of the steps whose thread was remembered. */
  readonly hits: number;
  /** The mean number of operations in a commit call. */
  readonly together: number;
  /** Milliseconds from a caller's operation to its commit. */
  readonly median: number;
  readonly slowest1Percent: number;
  /** The busiest server's time against the mean of all. */
  readonly skew: number;
}

/** The threads that a process remembers: the one used longest ago is forgotten first. */
export class Remembered {
  readonly #most: number;
  readonly #threads = new Set<number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns whether the thread was remembered; it is from now on. */
  use(thread: number): boolean {
    const known = this.#threads.delete(thread);
    this.#threads.add(thread);
    if (this.#threads.size > this.#most) this.#threads.delete(this.#threads.values().next().value as number);
    return known;
  }
}

/** Returns the shard of a thread's lineage, which its directory entry shares. */
export function shardOf(thread: number, shards: number): number {
  // Numbers are random in a store; here they are mixed, so that each run is the same.
  let mixed = Math.imul(thread ^ (thread >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return ((mixed ^ (mixed >>> 16)) >>> 0) % shards;
}

interface Waiting {
  readonly server: number;
  readonly cost: number;
  readonly since: number;
}

/** Runs a workload in virtual time. */
export function simulate(deployment: Deployment, workload: Workload, costs: Costs): Outcome {
  const { processes, callers, commitsAtOnce, servers, shards } = deployment;
  const freeAt = new Float64Array(servers);
  const busy = new Float64Array(servers);
  const memories = Array.from({ length: processes }, () => new Remembered(deployment.remembered));
  const waiting: Waiting[][] = memories.map(() => []);
  const underWay = memories.map(() => 0);
  const latencies = new Float64Array(workload.operations);
  const ends = new Ends();
  let [next, done, hits, calls, now] = [0, 0, 0, 0, 0];

  const begin = (process: number): void => {
    if (next >= workload.operations) return;
    const thread = workload.pick(next);
    next += 1;
    const known = (memories[process] as Remembered).use(thread) || workload.kind === "create";
    if (known) hits += 1;
    const cost = (workload.kind === "create" ? costs.create : costs.step) + (known ? 0 : costs.cold);
    waiting[process]?.push({ server: shardOf(thread, shards) % servers, cost, since: now });
  };

  /** Sends everything that waits in a process as one commit, which ends with the last of its servers. */
  const send = (process: number): void => {
    const group = waiting[process] as Waiting[];
    if (group.length === 0 || (underWay[process] as number) >= commitsAtOnce) return;
    waiting[process] = [];
    underWay[process] = (underWay[process] as number) + 1;
    const work = new Map<number, number>();
    for (const { server, cost } of group) work.set(server, (work.get(server) ?? costs.call) + cost);
    let end = now;
    for (const [server, cost] of work) {
      freeAt[server] = Math.max(freeAt[server] as number, now) + cost;
      busy[server] = (busy[server] as number) + cost;
      end = Math.max(end, freeAt[server] as number);
    }
    calls += 1;
    ends.add(end, () => {
      underWay[process] = (underWay[process] as number) - 1;
      for (const { since } of group) latencies[done++] = end - since;
      for (const _ of group) begin(process);
      send(process);
    });
  };

  for (let process = 0; process < processes; process += 1) {
    for (let caller = 0; caller < callers; caller += 1) begin(process);
    send(process);
  }
  for (let event = ends.take(); event; event = ends.take()) {
    now = event.at;
    event.run();
  }
  latencies.sort();
  const at = (part: number): number => (latencies[Math.floor(part * (done - 1))] as number) / 1000;
  const mean = busy.reduce((sum, one) => sum + one, 0) / servers;
  return {
    seconds: now / 1e6,
    perSecond: done / (now / 1e6),
    hits: hits / done,
    together: done / calls,
    median: at(0.5),
    slowest1Percent: at(0.99),
    skew: Math.max(...busy) / mean,
  };
}

interface End {
  readonly at: number;
  run(): void;
}

/** Commits under way, by when they end. There are few at a time: a sorted list will do. */
class Ends {
  readonly #list: End[] = [];

  add(at: number, run: () => void): void {
    let place = this.#list.length;
    while (place > 0 && (this.#list[place - 1] as End).at < at) place -= 1;
    this.#list.splice(place, 0, { at, run });
  }

  take(): End | undefined {
    return this.#list.pop();
  }
}
