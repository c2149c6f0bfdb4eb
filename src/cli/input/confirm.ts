import { createInterface } from "node:readline";
import { CommandFailure, exitCodes } from "../failure.ts";
import type { Session } from "../session.ts";

/** Asks before something is lost. Without a terminal to ask on, --yes is required; `instead` names an alternative. */
export async function confirm(
  session: Session,
  question: string,
  yes: boolean | undefined,
  instead = "",
): Promise<void> {
  if (yes === true) return;
  const { stdin, stderr } = session.terminal.streams;
  if (stdin.isTTY !== true) {
    throw new CommandFailure(
      exitCodes.declined,
      "DECLINED",
      `${question} Nobody is here to ask: pass --yes to do it${instead}.`,
    );
  }
  const reader = createInterface({ input: stdin, output: stderr });
  const answer = await new Promise<string>((resolve) => {
    reader.once("close", () => resolve(""));
    session.signal.addEventListener("abort", () => reader.close(), { once: true });
    reader.question(`${question} [y/N] `, resolve);
  });
  reader.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure(exitCodes.declined, "DECLINED", "Nothing was done.");
}
