import { ThreadmarkError } from "../../../errors.ts";

/** The part of a client of `redis` (node-redis 5 and later) that is used here. */
export interface RedisClientLike {
  connect(): Promise<unknown>;
  sendCommand(args: readonly (string | Buffer)[], options?: object): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  on(event: "error" | "end", listener: (error?: unknown) => void): unknown;
  destroy(): void;
}

/** The part of the package `redis` that is used here: pass the package itself, or anything that has its `createClient`. */
export interface RedisDriver {
  createClient(options: object): RedisClientLike;
}

/** Loads the package `redis`. */
export async function loadDriver(): Promise<RedisDriver> {
  try {
    return (await import("redis")) as unknown as RedisDriver;
  } catch (cause) {
    throw new ThreadmarkError(
      "UNSUPPORTED",
      'redis: the package "redis" is not there. Install it with `npm install redis`, or pass a `driver`.',
      { cause },
    );
  }
}
