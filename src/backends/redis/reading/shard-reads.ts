import { ServerFailure } from "../../shared/failure.ts";
import type { Argument } from "../connection/connection.ts";
import type { Link } from "../connection/servers.ts";
import { Script } from "../script.ts";

/**
 * Runs commands one after the other, so that all of them see one moment. Arguments: the command, its key, a count, the rest. A
 * transaction does the same in a quarter of the time for large answers, but not while a slot is being moved: the server that is
 * about to get it would take keys that are still to come for absent, where for a script it says that it does not have them all.
 */
const readScript = new Script(`
local answers, i, count = {}, 1, #ARGV
while i <= count do
  local rest = tonumber(ARGV[i + 2])
  answers[#answers + 1] = redis.call(ARGV[i], KEYS[tonumber(ARGV[i + 1])], unpack(ARGV, i + 3, i + 2 + rest))
  i = i + 3 + rest
end
return answers
`);

/** The commands that one call sends to one shard. */
export class ShardReads {
  readonly #commands: (readonly [command: string, key: string, ...rest: readonly Argument[]])[] = [];
  answers: readonly unknown[] = [];

  /** Adds a command; returns a function that gives its answer once the commands have run. */
  add(command: string, key: string, ...rest: readonly Argument[]): () => unknown {
    const at = this.#commands.push([command, key, ...rest]) - 1;
    return () => this.answers[at];
  }

  async run(link: Link): Promise<void> {
    const [only] = this.#commands;
    if (only !== undefined && this.#commands.length === 1) this.answers = [await link.send(only)];
    else this.answers = await (link.transaction ? this.#runTransaction(link) : this.#runScript(link));
  }

  async #runTransaction(link: Link): Promise<readonly unknown[]> {
    try {
      return (await link.transaction?.(this.#commands)) as readonly unknown[];
    } catch (error) {
      // A server whose memory is full takes no commands for a transaction, not even reads.
      if (!(error instanceof ServerFailure && error.state === "OOM")) throw error;
      return this.#runScript(link);
    }
  }

  #runScript(link: Link): Promise<readonly unknown[]> {
    const keys = [...new Set(this.#commands.map(([, key]) => key))];
    const args = this.#commands.flatMap(([command, key, ...rest]) => {
      return [command, String(keys.indexOf(key) + 1), String(rest.length), ...rest];
    });
    return readScript.run(link, keys, args) as Promise<readonly unknown[]>;
  }
}

/** Returns a bound of a range of members, itself included. */
export function from(text: string): string {
  return `[${text}`;
}

/** Returns a bound of a range of members, itself left out. */
export function beyond(text: string): string {
  return `(${text}`;
}

/** Returns the arguments that limit a range; none if there is no limit. */
export function limited(limit: number | undefined): readonly string[] {
  return limit === undefined || limit > 2 ** 31 ? [] : ["LIMIT", "0", String(limit)];
}
