import { createClient } from "redis";
import type { RedisClientLike, RedisDriver } from "../../../../src/backends/redis/index.ts";

/**
 * Returns a driver whose process seems to end: once it is armed, the commands that change something are counted, and from the
 * given one on no command is sent.
 */
export async function stoppingAt(stop: number): Promise<{ readonly driver: RedisDriver; arm(): void }> {
  let armed = false;
  let count = 0;
  const isChange = ([name]: readonly (string | Buffer)[]): boolean => name === "EVALSHA" || name === "HDEL";
  const driver: RedisDriver = {
    createClient(options) {
      const client = createClient(options) as unknown as RedisClientLike;
      const send = client.sendCommand.bind(client);
      client.sendCommand = (args, given) => {
        if (armed && isChange(args)) count += 1;
        if (armed && count >= stop) return Promise.reject(new Error("the process has ended"));
        return send(args, given);
      };
      return client;
    },
  };
  return {
    driver,
    arm: () => {
      armed = true;
    },
  };
}
