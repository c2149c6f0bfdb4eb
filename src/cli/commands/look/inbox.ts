import { type Command, Option } from "commander";
import type { Store } from "../../../api/store.ts";
import { questionsOf, type ShownQuestion } from "../../../display/steps/question.ts";
import { ThreadmarkError } from "../../../errors.ts";
import { failIfDamaged } from "../../failure.ts";
import { declare, wholeNumber } from "../../input/declare.ts";
import { filterOf, type ThreadFilter, whereOption } from "../../input/thread-filter.ts";
import { interruptible } from "../../interruptible.ts";
import { ageText } from "../../output/quantities.ts";
import { printTable } from "../../output/table.ts";
import type { Terminal } from "../../output/terminal.ts";
import type { Session, State } from "../../session.ts";

const SHOWN = 100;

/** A question, and where it was asked. */
export interface Asked {
  readonly thread: string;
  readonly checkpoint: string;
  readonly since: number;
  readonly question: ShownQuestion;
}

export function inboxCommand(program: Command, session: Session): void {
  declare<Pick<ThreadFilter, "workflow" | "where"> & { readonly limit?: number }>(program, session, {
    name: "inbox",
    summary: "list the open questions of all threads, newest first",
    options: [
      new Option("-w, --workflow <name>", "only of threads of this workflow"),
      whereOption("only of threads with this attribute (repeat for more)"),
      new Option("-l, --limit <count>", `how many (default: ${SHOWN}; with --json all)`).argParser(wholeNumber(1)),
    ],
    examples: ["threadmark inbox sqlite:agent.db", "threadmark inbox --where tenant=acme --json | jq -r .thread"],
    async run({ url, options: { limit, ...filter } }) {
      const { terminal, json, signal } = session;
      await session.withStore(url, async (store) => {
        const most = limit ?? (json ? Number.POSITIVE_INFINITY : SHOWN);
        const rows: Asked[] = [];
        const damaged: string[] = [];
        for await (const asked of interruptible(signal, openQuestions(store, filterOf(filter), damaged))) {
          if (json) terminal.json(record(asked));
          rows.push(asked);
          if (rows.length >= most) break;
        }
        if (!json) await printQuestions(terminal, rows);
        failIfDamaged(damaged);
      });
    },
  });
}

async function printQuestions(terminal: Terminal, rows: readonly Asked[]): Promise<void> {
  if (rows.length === 0) {
    terminal.note("No thread waits for an answer.");
    return;
  }
  const now = Date.now();
  await terminal.paged(async () =>
    printTable(
      terminal,
      [
        {
          title: "THREAD",
          text: ({ thread }) => thread,
          flexible: true,
          style: (text) => terminal.style("bold", text),
        },
        { title: "QUESTION", text: ({ question }) => question.id, flexible: true, leaves: 1 },
        { title: "NODE", text: ({ question }) => question.node ?? "", flexible: true, leaves: 2 },
        { title: "SINCE", text: ({ since }) => ageText(since, now), leaves: 4 },
        { title: "ANSWERS", text: ({ question }) => answersOf(question), flexible: true, leaves: 3 },
        {
          title: "ASKS",
          text: ({ question }) => question.text.replaceAll(/\s+/g, " "),
          flexible: true,
          least: 30,
          cut: "end",
          style: (text) => terminal.style("yellow", text),
        },
      ],
      rows,
    ),
  );
}

/**
 * Yields the open questions of all threads, newest activity first; of one thread those of its root. Threads that do not read are
 * added to `damaged`.
 */
async function* openQuestions(store: Store<State>, filter: ThreadFilter, damaged: string[]): AsyncGenerator<Asked> {
  const waiting = store.threads({ ...filter, order: "updated", status: "waiting" });
  for await (const { id } of waiting) {
    try {
      for await (const asked of questionsAt(store, id)) if (!asked.question.answered) yield asked;
    } catch (error) {
      if (!ThreadmarkError.is(error, "CORRUPT")) throw error;
      damaged.push(id);
    }
  }
}

/** Yields the questions of one thread, with those that are answered and that no run has taken up yet. */
export async function* questionsAt(store: Store<State>, id: string): AsyncGenerator<Asked> {
  const tuple = await store.thread(id).tuple();
  if (tuple === undefined) return;
  const { checkpoint, writes } = tuple;
  for (const question of questionsOf(checkpoint, writes)) {
    yield { thread: id, checkpoint: checkpoint.id, since: checkpoint.createdAt, question };
  }
}

/** Says which answers a question takes. */
export function answersOf({ form }: ShownQuestion): string {
  if (form.kind === "choices") return form.choices.map(({ label }) => label).join(" | ");
  if (form.kind === "yes-no") return "yes | no";
  return form.kind === "form" ? `{ ${form.fields.map(({ name }) => name).join(", ")} }` : "";
}

function record({ thread, checkpoint, since, question }: Asked): Record<string, unknown> {
  const { id, node, text, langgraph } = question;
  return { thread, checkpoint, id, node, text, answers: answersOf(question), since, langgraph };
}
