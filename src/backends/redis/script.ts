import { cryptography } from "../../platform/node-builtins.ts";
import { ServerFailure } from "../shared/failure.ts";
import type { Argument } from "./connection/connection.ts";
import type { Link } from "./connection/servers.ts";

/** A script of the server. All its keys have one hash tag. */
export class Script {
  readonly #text: string;
  readonly #name: string;

  constructor(text: string) {
    this.#text = text;
    this.#name = cryptography().createHash("sha1").update(text).digest("hex");
  }

  /** Runs the script, by its name where the server knows it: it forgets scripts when it restarts, and when told to. */
  async run(link: Link, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args];
    try {
      return await link.send(["EVALSHA", this.#name, ...rest]);
    } catch (error) {
      if (!(error instanceof ServerFailure && error.state === "NOSCRIPT")) throw error;
      return link.send(["EVAL", this.#text, ...rest]);
    }
  }
}
