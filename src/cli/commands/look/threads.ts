import { type Command, Option } from "commander";
import type { Store } from "../../../api/store.ts";
import { attributeTexts } from "../../../display/attributes-text.ts";
import { threadRecord } from "../../../display/json-records.ts";
import { withoutPassword } from "../../../display/redact-url.ts";
import { failuresIn } from "../../../display/steps/failure.ts";
import { questionsOf } from "../../../display/steps/question.ts";
import { oneLine } from "../../../display/values/records.ts";
import { ThreadmarkError } from "../../../errors.ts";
import type { ThreadInfo } from "../../../model/checkpoint.ts";
import type { ThreadsOptions } from "../../../model/interface/store-options.ts";
import type { Status } from "../../../model/status.ts";
import { declare, wholeNumber } from "../../input/declare.ts";
import { filterOf, filterOptions } from "../../input/thread-filter.ts";
import { interruptible } from "../../interruptible.ts";
import { printable } from "../../output/printable.ts";
import { ageText, countText } from "../../output/quantities.ts";
import { printTable } from "../../output/table.ts";
import type { Terminal } from "../../output/terminal.ts";
import type { Session, State } from "../../session.ts";

/** Threads listed for people: more than a screen, less than the scroll-back. Programs get all. */
const SHOWN = 100;

type Wanted = Pick<ThreadsOptions, "workflow" | "run" | "status" | "where" | "prefix" | "order" | "limit" | "after">;

export function threadsCommand(program: Command, session: Session): void {
  declare<Wanted>(program, session, {
    name: "threads",
    summary: "list the threads, newest activity first",
    options: [
      ...filterOptions(),
      new Option("--run <id>", "only those that show a checkpoint of this run"),
      new Option("-p, --prefix <text>", "only those whose id begins so"),
      new Option("-o, --order <order>", "how they are ordered").choices(["updated", "id"]).default("updated"),
      new Option("-l, --limit <count>", `how many (default: ${SHOWN}; with --json all)`).argParser(wholeNumber(1)),
      new Option("--after <thread>", "go on after this one"),
    ],
    examples: [
      "threadmark threads sqlite:agent.db --status waiting",
      "threadmark threads --where tenant=acme --where open=true",
      "threadmark threads --json | jq -r 'select(.status == \"failed\") | .id'",
    ],
    async run({ url, options }) {
      const { terminal, json } = session;
      await session.withStore(url, async (store) => {
        const { run, prefix, order, after } = options;
        const limit = options.limit ?? (json ? undefined : SHOWN + 1);
        const wanted = Object.entries({ ...filterOf(options), run, prefix, order, after, limit }).filter(
          ([, value]) => value !== undefined,
        );
        const threads = interruptible(session.signal, store.threads(Object.fromEntries(wanted) as ThreadsOptions));
        if (json) {
          for await (const thread of threads) terminal.json(threadRecord(thread));
          return;
        }
        const rows: ThreadInfo[] = [];
        for await (const thread of threads) rows.push(thread);
        const more = options.limit === undefined && rows.length > SHOWN;
        if (rows.length === 0) terminal.note(`No threads in ${withoutPassword(url)}.`);
        else {
          const shown = more ? rows.slice(0, SHOWN) : rows;
          const details = terminal.interactive ? await detailsOf(store, shown) : new Map<string, string>();
          await terminal.paged(async () => printThreads(terminal, shown, details));
        }
        if (more) {
          const last = printable(JSON.stringify(rows[SHOWN - 1]!.id));
          terminal.note(
            `The first ${SHOWN}. Go on with --after ${last}, or filter: --prefix, --workflow, --status, --where.`,
          );
        }
        const isFiltered = wanted.some(([name]) => name !== "order" && name !== "limit");
        if (!isFiltered && !more && rows.length < (options.limit ?? Number.POSITIVE_INFINITY)) {
          const unlisted = (await store.counts()).threads - rows.length;
          if (unlisted > 0) terminal.note(`Not listed: ${countText(unlisted, "damaged thread")}. See verify.`);
        }
      });
    },
  });
}

/** Reading heads is worth this long for a list; threads that are not reached go without. */
const PATIENCE = 400;

/** Says what threads wait for, and what they failed with, by id. */
async function detailsOf(store: Store<State>, rows: readonly ThreadInfo[]): Promise<ReadonlyMap<string, string>> {
  const details = new Map<string, string>();
  const until = performance.now() + PATIENCE;
  for (const { id, status } of rows) {
    if (status !== "waiting" && status !== "failed") continue;
    if (performance.now() > until) break;
    const tuple = await store
      .thread(id)
      .tuple()
      .catch((error: unknown) => {
        if (!ThreadmarkError.is(error, "CORRUPT")) throw error;
        details.set(id, "(damaged: see verify)");
      });
    if (!tuple) continue;
    const { checkpoint, writes } = tuple;
    const question = questionsOf(checkpoint, writes).find(({ answered }) => !answered);
    const [failure] = failuresIn(writes, checkpoint.next);
    if (status === "waiting" && question !== undefined) details.set(id, oneLine(question.text, 200));
    if (status === "failed" && failure !== undefined)
      details.set(id, oneLine(`${failure.node ?? failure.name}: ${failure.message || failure.name}`, 200));
  }
  return details;
}

function printThreads(terminal: Terminal, rows: readonly ThreadInfo[], details: ReadonlyMap<string, string>): void {
  const now = Date.now();
  printTable(
    terminal,
    [
      { title: "THREAD", text: ({ id }) => id, flexible: true, style: (text) => terminal.style("bold", text) },
      {
        title: "STATUS",
        text: ({ status }) => status,
        style: (text, { status }) => statusStyle(terminal, status, text),
      },
      { title: "WORKFLOW", text: ({ workflow }) => workflow ?? "", flexible: true, leaves: 6 },
      { title: "STEP", text: ({ head }) => String(head.step), align: "right", leaves: 4 },
      { title: "NODE", text: ({ head }) => head.node ?? "", flexible: true, leaves: 5 },
      { title: "CHECKPOINTS", text: ({ checkpoints }) => String(checkpoints), align: "right", leaves: 2 },
      { title: "UPDATED", text: ({ updatedAt }) => ageText(updatedAt, now), leaves: 7 },
      {
        title: "ASKS OR FAILED",
        text: ({ id }) => details.get(id) ?? "",
        flexible: true,
        least: 24,
        cut: "end",
        style: (text, { status }) => statusStyle(terminal, status, text),
      },
      {
        title: "ATTRIBUTES",
        text: ({ attributes }) => attributeTexts(attributes).join(" "),
        flexible: true,
        leaves: 1,
      },
      { title: "FORKED FROM", text: ({ forkedFrom }) => forkedFrom?.thread ?? "", flexible: true, leaves: 3 },
    ],
    rows,
  );
}

const colours = {
  running: "blue",
  waiting: "yellow",
  failed: "red",
  cancelled: "magenta",
  done: "green",
  paused: "cyan",
} as const;

function statusStyle(terminal: Terminal, status: Status, text: string): string {
  return terminal.style(colours[status], text);
}
