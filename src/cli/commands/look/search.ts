import { type Command, Option } from "commander";
import { attributeTexts } from "../../../display/attributes-text.ts";
import { findText, type TextMatch } from "../../../display/search/find-text.ts";
import { ThreadmarkError } from "../../../errors.ts";
import type { Checkpoint, ThreadInfo } from "../../../model/checkpoint.ts";
import { failIfDamaged, usage } from "../../failure.ts";
import { declare, wholeNumber } from "../../input/declare.ts";
import { pathText } from "../../input/path.ts";
import { interruptible } from "../../interruptible.ts";
import { printable } from "../../output/printable.ts";
import { countText } from "../../output/quantities.ts";
import type { Terminal } from "../../output/terminal.ts";
import type { Session, State } from "../../session.ts";

const SHOWN = 50;
/** Matches listed of one checkpoint: a word may stand in every message. */
const OF_ONE = 5;

interface Options {
  readonly workflow?: string;
  readonly prefix?: string;
  readonly history?: boolean;
  readonly limit?: number;
}

export function searchCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "search",
    summary: "find a text in the ids, attributes, labels and states of all threads, newest activity first",
    operands: [["<text>", "the text, in any case"]],
    options: [
      new Option("-w, --workflow <name>", "only in threads of this workflow"),
      new Option("-p, --prefix <text>", "only in threads whose id begins so"),
      new Option("--history", "in every checkpoint, not only in the heads"),
      new Option("-l, --limit <count>", `how many threads to list (default: ${SHOWN}; with --json all)`).argParser(
        wholeNumber(1),
      ),
    ],
    examples: ["threadmark search refund", "threadmark search 'order 17' --history --json | jq -r .thread"],
    async run({ url, operands: [text = ""], options }) {
      const { terminal, json, signal } = session;
      if (text === "") throw usage("There is nothing to search for.");
      await session.withStore(url, async (store) => {
        const limit = options.limit ?? (json ? Number.POSITIVE_INFINITY : SHOWN);
        const wanted = {
          order: "updated" as const,
          ...(options.workflow !== undefined && { workflow: options.workflow }),
          ...(options.prefix !== undefined && { prefix: options.prefix }),
        };
        let found = 0;
        let looked = 0;
        const damaged: string[] = [];
        for await (const info of interruptible(signal, store.threads(wanted))) {
          looked += 1;
          const thread = store.thread(info.id);
          const matches: Match[] = [...nameMatches(info, text)];
          try {
            const checkpoints = thread.history({ states: true, ...(!options.history && { limit: 1 }) });
            for await (const checkpoint of interruptible(signal, checkpoints))
              matches.push(...stateMatches(checkpoint, text));
          } catch (error) {
            if (!ThreadmarkError.is(error, "CORRUPT")) throw error;
            damaged.push(info.id);
          }
          if (matches.length === 0) continue;
          found += 1;
          for (const match of matches) print(terminal, json, info.id, match);
          if (found >= limit) break;
        }
        if (!json && found === 0) terminal.note(`Nothing found in ${countText(looked, "thread")}.`);
        failIfDamaged(damaged);
      });
    },
  });
}

/** A match, and the checkpoint it is in. */
interface Match {
  readonly checkpoint: string;
  readonly step: number;
  readonly name: string;
  readonly match: TextMatch;
}

/** Finds a text in a checkpoint's label and state. */
function* stateMatches({ id, step, label, state }: Checkpoint<State>, text: string): Generator<Match> {
  for (const match of findText(label, text)) yield { checkpoint: id, step, match, name: "label" };
  let count = 0;
  for (const match of findText(state, text)) {
    yield { checkpoint: id, step, match, name: pathText(match.path) || "(the state)" };
    count += 1;
    if (count === OF_ONE) break;
  }
}

/** Finds a text in the id of a thread, and in its attributes: "tenant=acme". */
function* nameMatches({ id, head, attributes }: ThreadInfo, text: string): Generator<Match> {
  const { id: checkpoint, step } = head;
  for (const match of findText(id, text)) yield { checkpoint, step, match, name: "id" };
  for (const attribute of attributeTexts(attributes))
    for (const match of findText(attribute, text)) yield { checkpoint, step, match, name: "attribute" };
}

function print(terminal: Terminal, json: boolean, thread: string, { checkpoint, step, name, match }: Match): void {
  const { excerpt, start, end } = match;
  if (json) {
    terminal.json({ thread, checkpoint, step, name, path: match.path, inKey: match.inKey, excerpt });
    return;
  }
  const marked = `${printable(excerpt.slice(0, start))}${terminal.style(["yellow", "bold"], printable(excerpt.slice(start, end)))}${printable(excerpt.slice(end))}`;
  const place = `${terminal.style("bold", printable(thread))} ${terminal.style("dim", `@${step} ${printable(name)}`)}`;
  terminal.line(`${place}  ${marked}`);
}
