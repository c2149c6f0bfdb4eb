import type { Argument } from "../connection/connection.ts";
import type { Link } from "../connection/servers.ts";
import { Script } from "../script.ts";

/** Runs commands one after the other, so that all of them see one moment. Arguments: the command, its key, a count, the rest. */
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
  readonly #keys: string[] = [];
  readonly #args: Argument[] = [];
  #count = 0;
  answers: readonly unknown[] = [];

  /** Adds a command; returns a function that gives its answer once the commands have run. */
  add(command: string, key: string, ...rest: readonly Argument[]): () => unknown {
    let number = this.#keys.indexOf(key) + 1;
    if (number === 0) number = this.#keys.push(key);
    this.#args.push(command, String(number), String(rest.length), ...rest);
    const at = this.#count++;
    return () => this.answers[at];
  }

  async run(link: Link): Promise<void> {
    this.answers = (await readScript.run(link, this.#keys, this.#args)) as readonly unknown[];
  }
}

const including = Buffer.from("[");
const excluding = Buffer.from("(");

/** Returns a bound of a range of members, itself included. */
export function from(bytes: Buffer): Buffer {
  return Buffer.concat([including, bytes]);
}

/** Returns a bound of a range of members, itself left out. */
export function beyond(bytes: Buffer): Buffer {
  return Buffer.concat([excluding, bytes]);
}

/** Returns the arguments that limit a range; none if there is no limit. */
export function limited(limit: number | undefined): readonly string[] {
  return limit === undefined || limit > 2 ** 31 ? [] : ["LIMIT", "0", String(limit)];
}
