import { checkId } from "../address.ts";
import type { WritesInput, WritesOptions } from "../interface/options.ts";
import { checkInteger, checkKeys, checkObject, checkOptions, checkText, nullable, optional } from "./checks.ts";
import { checkLeaseToken } from "./lease.ts";

const inputKeys: readonly (keyof WritesInput)[] = ["task", "node", "writes"];
const writeKeys: readonly (keyof WritesInput["writes"][number])[] = ["channel", "value", "index"];

export function checkWritesInput(input: WritesInput): void {
  const fields = checkObject(input, "The input of putWrites");
  checkKeys(fields, inputKeys, "The input of putWrites");
  checkId(fields["task"], "task");
  optional(fields, "node", nullable(checkText));
  if (!Array.isArray(fields["writes"])) throw new TypeError("writes must be an array.");
  for (const [index, entry] of (fields["writes"] as unknown[]).entries()) checkWrite(entry, `writes[${index}]`);
}

function checkWrite(entry: unknown, what: string): void {
  const write = checkObject(entry, what);
  checkKeys(write, writeKeys, what);
  checkText(write["channel"], `${what}.channel`);
  if (write["index"] !== undefined) checkInteger(write["index"], `${what}.index`);
}

/** Checks the options of putWrites; `further` are those that only an adapter may give. */
export function checkWritesOptions(options: WritesOptions, further: readonly string[] = []): void {
  const fields = checkOptions(options, ["lease", ...further], "putWrites");
  optional(fields, "lease", checkLeaseToken);
}
