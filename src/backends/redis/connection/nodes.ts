import type { Host } from "./address.ts";
import { nameOf } from "./address.ts";
import { type Access, Connection } from "./connection.ts";

interface Node {
  readonly host: Host;
  readonly connections: Set<Connection>;
  opening: Promise<Connection> | undefined;
}

/** The connections to every server, a few to each: an answer that has to wait, as for a sync, holds back those behind it. */
export class Nodes {
  readonly #access: Access;
  readonly #most: number;
  readonly #nodes = new Map<string, Node>();
  readonly #onLost: () => void;
  #closed = false;

  constructor(access: Access, most: number, onLost: () => void) {
    this.#access = access;
    this.#most = most;
    this.#onLost = onLost;
  }

  /** Returns the connection to a server with the fewest commands under way. Opens another beside busy ones. */
  async connectionTo(host: Host): Promise<Connection> {
    const node = this.#nodeAt(host);
    let best: Connection | undefined;
    for (const one of node.connections) if (best === undefined || one.underWay < best.underWay) best = one;
    if (best === undefined) return this.#open(node);
    if (best.underWay > 0 && node.connections.size < this.#most) this.#open(node).catch(() => {});
    return best;
  }

  /** Opens a connection that nobody else uses; the caller closes it. */
  alone(host: Host, onEnd: () => void): Promise<Connection> {
    return Connection.open(this.#access, host, onEnd);
  }

  /** Closes the connections to servers that are not among these. */
  keep(hosts: readonly Host[]): void {
    const names = new Set(hosts.map(nameOf));
    for (const [name, node] of this.#nodes) {
      if (names.has(name)) continue;
      this.#nodes.delete(name);
      for (const connection of node.connections) connection.close();
    }
  }

  close(): void {
    this.#closed = true;
    this.keep([]);
  }

  #nodeAt(host: Host): Node {
    const name = nameOf(host);
    const node = this.#nodes.get(name) ?? { host, connections: new Set(), opening: undefined };
    this.#nodes.set(name, node);
    return node;
  }

  #open(node: Node): Promise<Connection> {
    node.opening ??= this.#opened(node).finally(() => {
      node.opening = undefined;
    });
    return node.opening;
  }

  async #opened(node: Node): Promise<Connection> {
    let connection: Connection | undefined;
    const onEnd = (): void => {
      if (connection !== undefined) node.connections.delete(connection);
      if (!this.#closed) this.#onLost();
    };
    connection = await Connection.open(this.#access, node.host, onEnd);
    if (this.#closed || this.#nodes.get(nameOf(node.host)) !== node) connection.close();
    else node.connections.add(connection);
    return connection;
  }
}
