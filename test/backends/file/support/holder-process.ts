import { file } from "../../../../src/backends/file/index.ts";
import { recordText } from "../../../support/texts.ts";
import { put } from "../../support/tail-records.ts";

/** A process that writes once, says so, and stays until it is killed. */
const backend = await file(process.argv[2] as string);
await put(backend, 1, recordText("from the holder"));
process.stdout.write("holding\n");
// The backend must not be collected as garbage meanwhile: that would close its file.
setInterval(() => backend, 1000);
