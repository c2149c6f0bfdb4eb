import type { ClientLike, PoolLike } from "../connection/pool.ts";
import { openPool } from "../connection/pool.ts";
import { Listener } from "./listener.ts";

/** A pool passed in with fewer connections has none to spare for listening. */
const leastConnections = 4;

interface Source {
  readonly url?: string;
  readonly pool?: PoolLike;
  readonly patience: number;
}

/** Listens on a connection of its own: of a pool passed in, where that has one to spare, or of a pool made for it. */
export function listenOn(channel: string, tell: () => void, { url, pool, patience }: Source): () => void {
  if (pool) {
    const most = (pool as { readonly options?: { readonly max?: number } }).options?.max ?? 0;
    const listener = new Listener(most < leastConnections ? noneToSpare : () => pool.connect(), channel, tell);
    return () => listener.stop();
  }
  const opened = openPool(url as string, { connections: 1, patience });
  // An idle connection reports its failure by an event, which would end the process if nothing listened.
  opened.then((own) => own.on("error", () => {})).catch(() => {});
  const listener = new Listener(async () => (await opened).connect(), channel, tell);
  return () => {
    listener.stop();
    opened.then((own) => own.end()).catch(() => {});
  };
}

function noneToSpare(): Promise<ClientLike> {
  return Promise.reject(new Error("the pool has no connection to spare"));
}
