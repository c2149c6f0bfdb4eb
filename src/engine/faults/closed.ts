import { ThreadmarkError } from "../../errors.ts";

export function closedError(): ThreadmarkError {
  return new ThreadmarkError("CLOSED", "The store is closed. Open it again with open().");
}
