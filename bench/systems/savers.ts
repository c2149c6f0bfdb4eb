import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph-checkpoint";
import type pg from "pg";
import type { Store } from "../../src/index.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { originalPostgresSaver, originalSqliteSaver } from "../environment/langgraph-savers.ts";
import { DeltaThread } from "./delta-thread.ts";
import { SaverThread } from "./saver-thread.ts";
import { bytesOf, bytesWritten, foldLog, schemaBytes, walPosition } from "./sizes.ts";
import type { HomeKind, System, Thread } from "./system.ts";
import { medium, openOptions, urlOf } from "./threadmark.ts";

type Client = () => Promise<pg.Client>;

/** LangGraph's checkpoints in a Threadmark store. */
export function threadmarkSaver(kind: Exclude<HomeKind, "none">, client: Client): System {
  return {
    name: `Threadmark, ${kind}, LangGraph saver`,
    home: kind,
    kind: "threadmark",
    langchain: true,
    wholeUpTo: 1_000,
    async open(home) {
      const saver = await ThreadmarkSaver.open(urlOf(home, kind), openOptions(home, kind));
      const { store } = saver;
      return {
        thread: (id) => withStore(new SaverThread(saver, id), saver, id),
        ...medium(store as Store, home, kind, client),
        close: () => saver.close(),
      };
    },
  };
}

/** Adds the saver's abilities beyond LangGraph's interface. */
function withStore(thread: SaverThread, saver: ThreadmarkSaver, id: string): Thread {
  let forks = 0;
  return Object.assign(thread, {
    async fork(): Promise<void> {
      forks += 1;
      await saver.forkThread({ configurable: { thread_id: id } }, `${id}-fork-${forks}`);
    },
    async prune(keepLast: number): Promise<void> {
      await saver.prune(id, { keepLast });
    },
  });
}

const threadOn = (saver: BaseCheckpointSaver, id: string, delta: boolean): Thread =>
  delta ? new DeltaThread(saver, id) : new SaverThread(saver, id);

export const memorySaver: System = {
  name: "LangGraph MemorySaver",
  home: "memory",
  kind: "peer",
  langchain: true,
  wholeUpTo: 100,
  async open() {
    const saver = new MemorySaver();
    return {
      thread: (id) => threadOn(saver, id, false),
      bytes: async () => undefined,
      written: async () => undefined,
      close: async () => {},
    };
  },
};

/** LangGraph's SqliteSaver on Node's own SQLite, the driver that Threadmark uses here. */
export function sqliteSaver(delta = false): System {
  return {
    name: `LangGraph SqliteSaver${delta ? " + DeltaChannel" : ""}`,
    home: "SQLite",
    kind: "peer",
    langchain: true,
    conversationOnly: delta,
    wholeUpTo: delta ? 3_000 : 1_000,
    async open({ path, fsync }) {
      const { saver, vacuum, close } = await originalSqliteSaver(path, fsync);
      return {
        thread: (id) => threadOn(saver, id, delta),
        async bytes() {
          vacuum();
          foldLog(path);
          return bytesOf(path);
        },
        written: async () => bytesWritten(),
        close,
      };
    },
  };
}

export function postgresSaver(client: Client, delta = false): System {
  return {
    name: `LangGraph PostgresSaver${delta ? " + DeltaChannel" : ""}`,
    home: "Postgres",
    kind: "peer",
    langchain: true,
    conversationOnly: delta,
    wholeUpTo: 100,
    async open({ url, schema }) {
      const { saver, close } = await originalPostgresSaver(url, schema);
      return {
        thread: (id) => threadOn(saver, id, delta),
        async bytes() {
          const connection = await client();
          for (const table of ["checkpoints", "checkpoint_blobs", "checkpoint_writes"])
            await connection.query(`vacuum full "${schema}".${table}`);
          return schemaBytes(connection, schema);
        },
        written: async () => walPosition(await client()),
        close,
      };
    },
  };
}
