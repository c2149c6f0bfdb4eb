import { ThreadmarkError } from "../../errors.ts";
import type { Servers } from "./connection/servers.ts";
import { slotOf } from "./crc16.ts";
import { Layout, layoutVersion } from "./layout.ts";

/** The record that says how a store is laid out. It is written before the first commit, and before the first of a later version. */
export class LayoutRecord {
  readonly #servers: Servers;
  readonly #prefix: string;
  readonly #shards: number | undefined;
  #layout: Layout | undefined;
  #version = 0;

  constructor(servers: Servers, prefix: string, shards: number | undefined) {
    this.#servers = servers;
    this.#prefix = prefix;
    this.#shards = shards;
  }

  /** Returns the layout if it is known already. */
  get known(): Layout | undefined {
    return this.#layout;
  }

  /** Returns the layout if the store is known to be of this version, which others then know too. */
  get current(): Layout | undefined {
    return this.#version === layoutVersion ? this.#layout : undefined;
  }

  /** Reads the layout; undefined while there is no store. */
  async read(): Promise<Layout | undefined> {
    if (this.#layout !== undefined) return this.#layout;
    const found = await this.#servers.at(this.#slot, (link) => link.send(["GET", this.#key]));
    if (found === null) return undefined;
    const { version, shards } = JSON.parse(String(found)) as { readonly version: number; readonly shards: number };
    if (version > layoutVersion) {
      throw new ThreadmarkError(
        "VERSION",
        `${this.#servers.address}: the store has layout ${version}; this version of threadmark reads up to ${layoutVersion}. Upgrade threadmark.`,
      );
    }
    this.#version = version;
    this.#layout = new Layout(this.#prefix, shards);
    return this.#layout;
  }

  /** Reads the layout, or makes it, or tells that it is of this version now. Where two make it at once, the first one's counts. */
  async make(): Promise<Layout> {
    for (;;) {
      const layout = await this.read();
      if (this.current !== undefined) return this.current;
      const shards = layout?.shards ?? this.#shards ?? (this.#servers.isCluster ? 64 : 1);
      const record = JSON.stringify({ version: layoutVersion, shards });
      const isFirst = layout === undefined ? ["NX"] : [];
      await this.#servers.at(this.#slot, (link) => link.send(["SET", this.#key, record, ...isFirst]));
      this.#layout = undefined;
    }
  }

  get #key(): string {
    return `{${this.#prefix}}:layout`;
  }

  get #slot(): number {
    return slotOf(this.#prefix);
  }
}
