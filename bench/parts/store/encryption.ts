import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from "node:crypto";
import { open, type Store } from "../../../src/index.ts";
import { type Compared, compare } from "../../harness/compare.ts";
import type { Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { checkState } from "../../systems/check-state.ts";
import { conversation } from "../../workloads/conversation.ts";
import type { State } from "../../workloads/workload.ts";

const steps = 300;

/** A store with a conversation, which goes on by a message at every put. */
class Talk {
  readonly #url: string;
  readonly #options: object;
  #store: Store<State>;
  #state: State = conversation.initial();

  private constructor(url: string, options: object, store: Store<State>) {
    this.#url = url;
    this.#options = options;
    this.#store = store;
  }

  static async begin(url: string, options: object): Promise<Talk> {
    const talk = new Talk(url, options, await open<State>(url, options));
    await talk.#store.thread("measured").put({ state: talk.#state });
    for (let step = 0; step < steps; step += 1) await talk.put();
    return talk;
  }

  put(): Promise<unknown> {
    const { state, update } = conversation.step(this.#state, 0);
    this.#state = state;
    return this.#store.thread("measured").put({ update });
  }

  latest(): Promise<unknown> {
    return this.#store.thread("measured").latest();
  }

  /** Reads the head in a store that is newly opened. */
  async latestAnew(): Promise<void> {
    const store = await open<State>(this.#url, this.#options);
    await store.thread("measured").latest();
    await store.close();
  }

  async end(): Promise<void> {
    const head = await this.#store.thread("measured").latest();
    checkState(head?.state as State, this.#state, "threadmark");
    await this.#store.close();
  }
}

/** The bytes of a put's record, and of the records that a newly opened store reads: the newest messages, and four packs. */
const RECORD = 700;
const RECORDS: readonly number[] = [...Array<number>(40).fill(RECORD), ...Array<number>(4).fill(36_000)];
const floorKey = createSecretKey(randomBytes(32));
const place = Buffer.from("24:tail:12345:12345:300:0");

/** Encrypts as many bytes, with the place authenticated: the least that an encrypted record costs. */
function encryptByHand(bytes: Uint8Array): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", floorKey, nonce);
  cipher.setAAD(place);
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

function decryptByHand(stored: Buffer): string {
  const decipher = createDecipheriv("aes-256-gcm", floorKey, stored.subarray(0, 12));
  decipher.setAAD(place);
  decipher.setAuthTag(stored.subarray(-16));
  const plain = decipher.update(stored.subarray(12, -16));
  decipher.final();
  return plain.toString("utf8");
}

/** Puts and reads of an encrypted store against those of a plain one. */
export const encryption: Part = {
  name: "encryption",
  title: "an encrypted store",
  async run({ place, report, quick }) {
    const keys = { current: "one", keys: { one: randomBytes(32) } };
    const rows: Cell[][] = [];
    const note = (name: string, { ours, other, p50, mean }: Compared): void => {
      rows.push([name, ours.p50, other.p50, p50, mean]);
    };
    for (const fsync of ["full", "normal"] as const) {
      const url = (name: string): string => `sqlite:${place.path(`${name}-${fsync}`)}`;
      const encrypted = await Talk.begin(url("encrypted"), { fsync, encryption: keys });
      const plain = await Talk.begin(url("plain"), { fsync });
      const rounds = quick ? 5 : 15;
      const puts = await compare(
        { rounds, batch: 16, turns: quick ? 2 : 4 },
        () => encrypted.put(),
        () => plain.put(),
      );
      note(`put, fsync ${fsync}`, puts);
      report.target(`SQLite, fsync ${fsync}: put encrypted against plain`, puts.p50, 1.2);
      const latest = await compare(
        { rounds, batch: 16, turns: quick ? 2 : 4 },
        () => encrypted.latest(),
        () => plain.latest(),
      );
      note(`latest(), open store, fsync ${fsync}`, latest);
      report.target(`SQLite, fsync ${fsync}: latest() encrypted against plain`, latest.p50, 1.3);
      const anew = await compare(
        { rounds, batch: 2, warmUp: 5 },
        () => encrypted.latestAnew(),
        () => plain.latestAnew(),
      );
      note(`open, latest(), close, fsync ${fsync}`, anew);
      report.target(`SQLite, fsync ${fsync}: latest() of a newly opened store, encrypted against plain`, anew.p50, 1.3);
      const bytes = randomBytes(RECORD);
      const floor = await compare(
        { rounds, batch: 16, turns: quick ? 2 : 4 },
        () => {
          encryptByHand(bytes);
          return plain.put();
        },
        () => plain.put(),
      );
      note(`floor: plain put and one AES-256-GCM by hand, fsync ${fsync}`, floor);
      const records = RECORDS.map((length) => encryptByHand(Buffer.alloc(length, "word ")));
      const floorAnew = await compare(
        { rounds, batch: 2, warmUp: 5 },
        () => {
          for (const record of records) decryptByHand(record);
          return plain.latestAnew();
        },
        () => plain.latestAnew(),
      );
      note(`floor: plain open, latest(), close and ${RECORDS.length} AES-256-GCM by hand, fsync ${fsync}`, floorAnew);
      await encrypted.end();
      await plain.end();
    }
    report.table(
      `a conversation of ${steps} messages and more, on SQLite`,
      [
        { title: "" },
        { title: "encrypted", unit: "ms" },
        { title: "plain", unit: "ms" },
        { title: "ratio", unit: "×" },
        { title: "ratio of means", unit: "×" },
      ],
      rows,
    );
  },
};
