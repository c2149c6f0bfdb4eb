import type { Store } from "../api/store.ts";
import type { RetentionOptions } from "../model/retention/sweep.ts";
import type { StateSchemas } from "../model/state-versions.ts";
import { usage } from "./failure.ts";
import { keysOf } from "./input/key-file.ts";
import type { Terminal } from "./output/terminal.ts";

const DEFAULT_URL = "sqlite:threadmark.db";

function isServer(url: string): boolean {
  return /^(postgres(ql)?|rediss?):/.test(url);
}

export type State = Record<string, unknown>;

/** The context of a command: the terminal, and the store of its url. */
export class Session {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly signal: AbortSignal;
  /** The file with the store's keys, where the command line names one. */
  keyFile: string | undefined;
  /** True if a store that is not encrypted yet is to be encrypted. */
  migrating = false;
  /** True if a store that begins is to hide its ids. */
  hideIds = false;

  constructor(terminal: Terminal, json: boolean, signal: AbortSignal) {
    this.terminal = terminal;
    this.json = json;
    this.signal = signal;
  }

  /** Returns the address of the store: `named`, or THREADMARK_URL, or a file in this directory. */
  urlOf(named: string | undefined): string {
    return named ?? (this.terminal.streams.env["THREADMARK_URL"] || DEFAULT_URL);
  }

  /**
   * Opens the store, and closes it in any case. Loads drivers only here, so that help and mistakes cost nothing.
   * `patience` is how many milliseconds to wait for a server, if not as long as the backend would; `schema` that of the program's
   * states, where they are to be migrated; `retention` the rules of a sweep.
   */
  async withStore<T>(
    url: string,
    work: (store: Store<State>) => Promise<T>,
    readOnly = false,
    patience?: number,
    schema?: StateSchemas,
    retention?: RetentionOptions,
  ): Promise<T> {
    const { open } = await import("../api/open.ts");
    const encryption = keysOf(this.keyFile, this.terminal.streams.env);
    if (this.hideIds && !encryption) throw usage("--hide-ids is for encrypted stores. Give their keys: --key-file.");
    const store = await open<State>(url, {
      unregistered: "keep",
      readOnly,
      ...(encryption && {
        encryption: {
          ...encryption,
          ...(this.migrating && { migrating: true }),
          ...(this.hideIds && { hideIds: true }),
        },
      }),
      ...(schema !== undefined && { schema }),
      ...(retention !== undefined && { retention }),
      ...(isServer(url) && patience !== undefined && { patience }),
    });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }
}
