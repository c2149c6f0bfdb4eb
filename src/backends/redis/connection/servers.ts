import { setTimeout as sleep } from "node:timers/promises";
import { ServerFailure } from "../../shared/failure.ts";
import type { Host } from "./address.ts";
import { nameOf } from "./address.ts";
import type { Access, Argument, Connection } from "./connection.ts";
import { Nodes } from "./nodes.ts";
import { findMaster } from "./sentinel.ts";
import { type SlotMap, slotMapOf } from "./slot-map.ts";

/** The way of commands to the server of a slot. */
export interface Link {
  send(args: readonly Argument[]): Promise<unknown>;
  /** Runs commands as one; absent on the way to a server that is about to get the slot. */
  transaction?(commands: readonly (readonly Argument[])[]): Promise<readonly unknown[]>;
  replicated(replicas: number, milliseconds: number): Promise<number>;
}

const firstPause = 5;
const longestPause = 250;

/** The servers of a store: one, the master that sentinels name, or the masters of a cluster. */
export class Servers {
  /** The url without its password, for messages. */
  readonly address: string;
  /** Milliseconds to wait while a failure is temporary. */
  readonly patience: number;
  /** Counts lost connections and changes of masters: since then, commits may be gone. */
  interruptions = 0;
  readonly #access: Access;
  readonly #nodes: Nodes;
  #isCluster: boolean;
  #map: SlotMap | undefined;
  #master: Host | undefined;
  #refreshing: Promise<void> | undefined;
  #closed = false;

  constructor(access: Access, { connections, patience }: { readonly connections: number; readonly patience: number }) {
    this.#access = access;
    this.address = access.address.shown;
    this.patience = patience;
    this.#isCluster = access.address.cluster;
    this.#nodes = new Nodes(access, connections, () => this.#interrupted());
  }

  get isCluster(): boolean {
    return this.#isCluster;
  }

  /** Takes the servers to be a cluster from now on, though the url did not say so. */
  async becomeCluster(): Promise<void> {
    this.#isCluster = true;
    await this.#refresh();
  }

  /** Returns the servers that hold the records. */
  async masters(): Promise<readonly Host[]> {
    if (this.#isCluster) return (await this.#slotMap()).masters;
    return [await this.#onlyMaster()];
  }

  /** Returns a connection that nobody else uses, to any of the masters; the caller closes it. */
  async alone(onEnd: () => void): Promise<Connection> {
    const [first] = await this.masters();
    return this.#nodes.alone(first as Host, onEnd);
  }

  /** Sends a command to one server; a failure that passes is waited for. For commands that may be repeated. */
  ask(host: Host, args: readonly Argument[]): Promise<unknown> {
    return this.#persist(
      () => this.#nodes.connectionTo(host),
      (link) => link.send(args),
    );
  }

  /**
   * Runs an action on the server of a slot, and again while that fails in a way that passes. The action is told whether an
   * earlier attempt may have been applied. Rejects with a {@link ServerFailure} that tells it too.
   */
  at<T>(slot: number, action: (link: Link, mayHaveApplied: boolean) => Promise<T>): Promise<T> {
    return this.#persist(() => this.#connectionFor(slot), action);
  }

  /** Closes all connections. Commands under way fail, and are not tried again. */
  close(): void {
    this.#closed = true;
    this.#nodes.close();
  }

  async #persist<T>(
    connect: () => Promise<Connection>,
    action: (link: Link, mayHaveApplied: boolean) => Promise<T>,
  ): Promise<T> {
    const since = performance.now();
    let mayHaveApplied = false;
    let pause = firstPause;
    let asked: Host | undefined;
    for (;;) {
      try {
        const connection = asked === undefined ? await connect() : await this.#nodes.connectionTo(asked);
        return await action(asked === undefined ? connection : asking(connection), mayHaveApplied);
      } catch (error) {
        if (!(error instanceof ServerFailure)) throw error;
        mayHaveApplied ||= error.mayHaveApplied;
        const { cause, state } = error;
        const isOver =
          this.#closed || performance.now() - since >= this.patience || (state === "READONLY" && !this.#isReplaceable);
        if (!error.passing || isOver) throw new ServerFailure(cause, mayHaveApplied, false, state);
        asked = state === "ASK" ? hostIn(error.message) : undefined;
        if (asked === undefined) {
          await sleep(Math.random() * pause);
          pause = Math.min(2 * pause, longestPause);
          if (state !== "TRYAGAIN" && state !== "LOADING") await this.#refresh().catch(() => {});
        }
      }
    }
  }

  /** Returns whether another server may take the place of a master, so that it is worth looking for it. */
  get #isReplaceable(): boolean {
    return this.#isCluster || this.#access.address.sentinel !== undefined;
  }

  async #connectionFor(slot: number): Promise<Connection> {
    if (!this.#isCluster) return this.#nodes.connectionTo(await this.#onlyMaster());
    const host = (await this.#slotMap()).hostOf(slot);
    if (host !== undefined) return this.#nodes.connectionTo(host);
    throw new ServerFailure(new Error(`no server has slot ${slot} of the cluster`), false, true, "CLUSTERDOWN");
  }

  async #slotMap(): Promise<SlotMap> {
    if (this.#map === undefined) await this.#refresh();
    return this.#map as SlotMap;
  }

  async #onlyMaster(): Promise<Host> {
    if (this.#master === undefined) await this.#refresh();
    return this.#master as Host;
  }

  /** Finds out anew which servers are masters. */
  #refresh(): Promise<void> {
    this.#refreshing ??= this.#refreshed().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refreshed(): Promise<void> {
    const { hosts, sentinel } = this.#access.address;
    if (this.#isCluster) {
      const map = await this.#readSlotMap();
      if (this.#map !== undefined && this.#map.name !== map.name) this.#interrupted();
      this.#map = map;
      this.#nodes.keep([...map.masters, ...map.others]);
      return;
    }
    const master = sentinel === undefined ? (hosts[0] as Host) : await findMaster(this.#access, hosts, sentinel);
    if (this.#master !== undefined && nameOf(this.#master) !== nameOf(master)) this.#interrupted();
    this.#master = master;
    this.#nodes.keep([master]);
  }

  async #readSlotMap(): Promise<SlotMap> {
    let failure: unknown;
    const known = [...(this.#map?.masters ?? []), ...this.#access.address.hosts, ...(this.#map?.others ?? [])];
    for (const host of known) {
      try {
        const connection = await this.#nodes.connectionTo(host);
        const map = slotMapOf(await connection.send(["CLUSTER", "SLOTS"]), host);
        if (map.masters.length > 0) return map;
      } catch (error) {
        failure = error;
        if (error instanceof ServerFailure && !error.passing) throw error;
      }
    }
    throw failure ?? new ServerFailure(new Error("the cluster has no slots yet"), false, true, "CLUSTERDOWN");
  }

  #interrupted(): void {
    this.interruptions += 1;
  }
}

/** Returns the host in a redirection, as in `ASK 3999 127.0.0.1:6381`. */
function hostIn(message: string): Host | undefined {
  const [, host, port] = /^\w+ \d+ (.*):(\d+)$/.exec(message) ?? [];
  return host ? { host, port: Number(port) } : undefined;
}

/** Returns a link to a server that is about to get a slot: every command says that it was sent there. */
function asking(connection: Connection): Link {
  return {
    send: (args) => {
      connection.send(["ASKING"]).catch(() => {});
      return connection.send(args);
    },
    replicated: (replicas, milliseconds) => connection.replicated(replicas, milliseconds),
  };
}
