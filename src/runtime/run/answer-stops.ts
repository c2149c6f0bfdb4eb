import { StorageFailure } from "../errors.ts";
import type { Position } from "../position/graph-position.ts";
import { openStops } from "../position/step-progress.ts";
import { isQuestion, type Stop } from "../position/stops.ts";
import { type GraphLevel, rememberAt } from "./session.ts";

/** Answers open stops by messages that wait, and by the time. Returns true if any was answered, and its task can run. */
export async function answerStops(level: GraphLevel, position: Position): Promise<boolean> {
  const { mail } = level.session;
  try {
    const byMail = (await mail?.answerStops(level, position)) ?? false;
    const due = dueStops(level, position);
    for (const stop of due.filter(isQuestion)) await mail?.timeUp(level, position, stop);
    const others = due.filter((stop) => !isQuestion(stop));
    const answers = new Map(others.map(({ id, otherwise }) => [id, otherwise]));
    if (answers.size > 0) await rememberAt(level, position, answers);
    for (const [id, answer] of answers) position.progress.answers.set(id, answer);
    return byMail || due.length > 0;
  } catch (error) {
    throw error instanceof StorageFailure ? error : new StorageFailure(error);
  }
}

/** Returns the stops whose time is up. Questions of a nested graph are its outer graph's, which knows them by their ids. */
function dueStops({ session, outer }: GraphLevel, position: Position): readonly Stop[] {
  const now = session.now();
  const isDue = (stop: Stop): boolean => stop.until !== undefined && stop.until <= now;
  return openStops(position).filter((stop) => isDue(stop) && (outer === undefined || !isQuestion(stop)));
}
