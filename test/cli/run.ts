import { join } from "node:path";
import { PassThrough } from "node:stream";
import { runCommandLine } from "../../src/cli/program.ts";
import { open, type Store } from "../../src/index.ts";
import { folderOfTest } from "../support/folders-of-tests.ts";

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Surroundings {
  readonly env?: Record<string, string>;
  readonly stdin?: string;
  /** As if a person sat there. */
  readonly terminal?: { readonly columns: number; readonly rows?: number };
  /** Stands for the pager: gets the texts that do not fit on the screen. */
  readonly page?: (text: string) => Promise<boolean>;
  readonly signal?: AbortSignal;
  /** Sees the output as it comes. */
  readonly hear?: (out: string) => void;
}

/** Runs the command line in this process, with streams of its own. */
export async function threadmark(parameters: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  const { env = {}, stdin, terminal, signal, hear, page } = surroundings;
  const isTTY = terminal !== undefined;
  const [input, output, complaint] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let [out, err] = ["", ""];
  output.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    hear?.(out);
  });
  complaint.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  if (stdin !== undefined) input.end(stdin);
  const streams = {
    stdin: Object.assign(input, { isTTY }),
    stdout: Object.assign(output, { isTTY, columns: terminal?.columns ?? 80, rows: terminal?.rows ?? 24 }),
    stderr: Object.assign(complaint, { isTTY }),
    env,
    ...(page && { page }),
  };
  const code = await runCommandLine(parameters, streams, signal);
  await new Promise((resolve) => setImmediate(resolve));
  return { code, out, err };
}

/** A store on SQLite, closed again, so that the command line finds what `fill` put there. */
export async function storeWith(fill: (store: Store<Record<string, unknown>>) => Promise<void>): Promise<string> {
  const url = `sqlite:${join(folderOfTest(), "test.db")}`;
  const store = await open<Record<string, unknown>>(url);
  await fill(store);
  await store.close();
  return url;
}

/** Three steps of a small plan, of several types. */
export async function threeSteps(store: Store<Record<string, unknown>>): Promise<void> {
  const thread = store.thread("user-42");
  const state = { messages: ["hello"], total: 12n, seen: new Map([["a", new Date(0)]]) };
  await thread.put({ state, source: "input", next: ["plan"], run: "r1", workflow: "chat" });
  await thread.put({ update: { append: { messages: ["hi"] } }, node: "plan", next: ["act"] });
  await thread.put({ update: { set: { total: 13n } }, node: "act", label: "before-refactor" });
}

export function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

export function records(text: string): Record<string, unknown>[] {
  return lines(text).map((line) => JSON.parse(line) as Record<string, unknown>);
}
