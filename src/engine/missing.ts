import { ThreadmarkError } from "../errors.ts";

export function notFound(thread: string, id: string): ThreadmarkError {
  return new ThreadmarkError("NOT_FOUND", `Thread ${JSON.stringify(thread)} has no checkpoint ${JSON.stringify(id)}.`, {
    thread,
    checkpoint: id,
  });
}
