import { ThreadmarkError } from "../../errors.ts";
import type { Servers } from "./connection/servers.ts";
import { slotOf } from "./crc16.ts";
import { KeyLayout, layoutVersion } from "./layout.ts";

/** The record that says how a store is laid out. It is written before the first commit. */
export class LayoutRecord {
  readonly #servers: Servers;
  readonly #prefix: string;
  readonly #shards: number | undefined;
  #layout: KeyLayout | undefined;

  constructor(servers: Servers, prefix: string, shards: number | undefined) {
    this.#servers = servers;
    this.#prefix = prefix;
    this.#shards = shards;
  }

  /** Returns the layout if it is known already. */
  get known(): KeyLayout | undefined {
    return this.#layout;
  }

  /** Reads the layout; undefined while there is no store. */
  async read(): Promise<KeyLayout | undefined> {
    if (this.#layout !== undefined) return this.#layout;
    const found = await this.#servers.at(this.#slot, (link) => link.send(["GET", this.#key]));
    if (found === null) return undefined;
    const { version, shards } = JSON.parse(String(found)) as { readonly version: number; readonly shards: number };
    if (version !== layoutVersion) {
      const next =
        version > layoutVersion
          ? "Upgrade threadmark."
          : "Export it with the version that wrote it, and import it into an empty one.";
      throw new ThreadmarkError(
        "VERSION",
        `${this.#servers.address}: the store has layout ${version}; this version of threadmark reads ${layoutVersion}. ${next}`,
      );
    }
    this.#layout = new KeyLayout(this.#prefix, shards);
    return this.#layout;
  }

  /** Reads the layout, or makes it. Where two make it at once, the first one's counts. */
  async make(): Promise<KeyLayout> {
    for (;;) {
      const layout = await this.read();
      if (layout !== undefined) return layout;
      const shards = this.#shards ?? (this.#servers.isCluster ? 64 : 1);
      const record = JSON.stringify({ version: layoutVersion, shards });
      await this.#servers.at(this.#slot, (link) => link.send(["SET", this.#key, record, "NX"]));
    }
  }

  get #key(): string {
    return `{${this.#prefix}}:layout`;
  }

  get #slot(): number {
    return slotOf(this.#prefix);
  }
}
