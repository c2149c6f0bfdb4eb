import { createValueCodec } from "../../../../src/codec/values/value.ts";
import { ThreadmarkError } from "../../../../src/errors.ts";

const codec = createValueCodec();

/** Returns the error of encoding a value, and fails if there is none. `previous` is encoded first, for the value to be compared with. */
export function refusalOf(value: unknown, previous?: unknown): ThreadmarkError {
  try {
    codec.encode(value, "state", previous === undefined ? undefined : codec.encode(previous, "state").tree);
  } catch (error) {
    if (error instanceof ThreadmarkError) return error;
    throw error;
  }
  throw new Error("it was stored");
}
