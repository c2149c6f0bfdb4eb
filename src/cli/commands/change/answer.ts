import { type Command, Option } from "commander";
import type { ShownQuestion } from "../../../display/steps/question.ts";
import { resumeCode } from "../../../display/steps/resume-code.ts";
import { controlChannels, controlIndexes } from "../../../model/control-writes.ts";
import { CommandFailure, exitCodes, usage } from "../../failure.ts";
import { declare } from "../../input/declare.ts";
import { parseJson } from "../../input/json-argument.ts";
import { existingThread } from "../../input/lookup.ts";
import { printable } from "../../output/printable.ts";
import type { Session } from "../../session.ts";
import { type Asked, answersOf, questionsAt } from "../look/inbox.ts";

export function answerCommand(program: Command, session: Session): void {
  declare<{ readonly question?: string; readonly text?: boolean }>(program, session, {
    name: "answer",
    summary: "answer an open question of a thread; its next run goes on with the answer",
    operands: [
      ["<thread>", "the thread"],
      ["<answer>", "a choice of the question, yes or no, JSON, or a text"],
    ],
    options: [
      new Option("-q, --question <id>", "which question, where there are several"),
      new Option("--text", "take the answer as a text, whatever it looks like"),
    ],
    examples: ["threadmark answer order-17 yes", "threadmark answer order-17 '{\"amount\": 5}' --question 0~approve"],
    async run({ url, operands: [id = "", given = ""], options }) {
      await session.withStore(url, async (store) => {
        const thread = await existingThread(store, id);
        const asked: Asked[] = [];
        for await (const one of questionsAt(store, id)) asked.push(one);
        const { checkpoint, question } = chosen(id, asked, options.question);
        const value = options.text ? given : answerValue(question, given);
        if (question.langgraph) throw forLangGraph(id, question.id, value, asked.length === 1);
        const answer = { channel: controlChannels.resume, index: controlIndexes.resume, value };
        await thread.putWrites(checkpoint, { task: question.id, node: question.node, writes: [answer] });
        if (session.json) session.terminal.json({ thread: id, checkpoint, question: question.id });
        else
          session.terminal.note(
            `Answered ${printable(question.id)}${question.answered ? " anew" : ""}. The next run of ${printable(id)} goes on with it.`,
          );
      });
    },
  });
}

/** Returns the question that is meant: the only open one, or the one of that id, whose answer may be given anew until a run takes it. */
function chosen(thread: string, asked: readonly Asked[], wanted: string | undefined): Asked {
  const open = wanted === undefined ? asked.filter(({ question }) => !question.answered) : asked;
  const ids = open.map(({ question }) => question.id);
  if (open.length === 0) {
    const given = asked.map(({ question }) => question.id).join(", ");
    const anew =
      given === "" ? "" : ` To change an answer before the next run takes it, name its question: --question ${given}.`;
    throw new CommandFailure(
      exitCodes.notFound,
      "NOT_FOUND",
      `Thread ${JSON.stringify(thread)} waits for no answer.${anew}`,
    );
  }
  if (wanted === undefined) {
    const [only, ...others] = open;
    if (only !== undefined && others.length === 0) return only;
    throw usage(
      `Thread ${JSON.stringify(thread)} has ${open.length} open questions. Choose with --question: ${ids.join(", ")}.`,
    );
  }
  const found = open.find(({ question }) => question.id === wanted);
  if (found !== undefined) return found;
  const message = `Thread ${JSON.stringify(thread)} has no open question ${JSON.stringify(wanted)}; it has ${ids.join(", ")}.`;
  throw new CommandFailure(exitCodes.notFound, "NOT_FOUND", message);
}

/** Returns the value that an answer as it was typed stands for. */
function answerValue(question: ShownQuestion, given: string): unknown {
  const { form } = question;
  if (form.kind === "choices") {
    const choice = form.choices.find(({ label }) => label.toLowerCase() === given.toLowerCase());
    if (choice !== undefined) return choice.value;
    throw usage(`${JSON.stringify(given)} is no choice. Choices are: ${answersOf(question)}.`);
  }
  if (form.kind === "yes-no") {
    if (/^(?:y|yes|true)$/i.test(given)) return true;
    if (/^(?:n|no|false)$/i.test(given)) return false;
  }
  if (form.kind === "form" || /^[[{"]|^(?:true|false|null|-?\d[\d.eE+-]*)$/.test(given)) return parseJson(given);
  return given;
}

/** Returns the failure that says how: LangGraph takes answers from the program that runs the graph, not from its checkpointer. */
function forLangGraph(thread: string, question: string, value: unknown, isOnly: boolean): CommandFailure {
  const code = resumeCode(thread, question, { value }, isOnly);
  return new CommandFailure(exitCodes.failed, "UNSUPPORTED", `LangGraph asked: answer from your program, with ${code}`);
}
