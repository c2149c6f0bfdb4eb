import { file } from "../../../../src/backends/file/index.ts";
import { recordText } from "../../../support/texts.ts";
import { get, put } from "../../support/tail-records.ts";

/** A process that may read a store but not write to it: says what came of trying. */
// Root may write anywhere: this is for a process of somebody else.
if (process.getuid?.() === 0) {
  process.setgid?.(65534);
  process.setuid?.(65534);
}
const backend = await file(process.argv[2] as string);
const read = await get(backend, 1);
const error = await put(backend, 2, recordText(2)).then(
  () => ({}),
  (failure: { code: unknown; committed: unknown; cause: { code: unknown } }) => ({
    code: failure.code,
    committed: failure.committed,
    cause: failure.cause.code,
  }),
);
await backend.close();
process.stdout.write(JSON.stringify({ read, ...error }));
