import { crc32 } from "node:zlib";
import type { Value } from "../../../backend.ts";
import type { BatchFields, Prior } from "./line.ts";
import { envelopeLength, headCheck, hex, tailLength } from "./line.ts";
import type { Operation } from "./operation.ts";
import { fieldsOf } from "./operation.ts";

/** An envelope that can stand in a JSON string as it is. Any other value is stored as a JSON string. */
const plainEnvelope = /^[ !#-[\]-~]{10}$/;

/** Encodes a line with its newline. */
export function encodeLine(
  offset: number,
  batchFields: BatchFields,
  operation: Operation,
  value: Value | undefined,
  prior: Prior,
): Buffer {
  const { batch, record, of, start, synced, joint } = batchFields;
  let head = `{"batch":${batch},`;
  if (of > 1) head += `"record":${record},"of":${of},"start":${start},`;
  if (synced !== undefined) head += `"synced":${synced},`;
  if (joint) head += `"joint":true,`;
  head += fieldsOf(operation);
  let body = "";
  if (value !== undefined) {
    const { intro, section } = present(value);
    head += `"bytes":${Buffer.byteLength(section)},`;
    body = `${intro}${section},`;
  }
  const line = Buffer.from(
    `${head}"head":"${hex(headCheck(head.slice(0, -1), offset))}",${body}"prior":${priorText(prior)},"crc":"00000000"}\n`,
  );
  line.write(hex(crc32(line.subarray(0, -tailLength))), line.length - 11, "latin1");
  return line;
}

/**
 * Returns the field name and the text of a value. JSON goes into the line unchanged, so that it reads back exactly and
 * `jq` can read it.
 */
function present(value: Value): { readonly intro: string; readonly section: string } {
  if (typeof value !== "string") {
    const base64 = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
    return { intro: '"base64":', section: `"${base64}"` };
  }
  const envelope = value.slice(0, envelopeLength);
  const section = value.slice(envelopeLength);
  if (plainEnvelope.test(envelope) && section !== "" && !section.includes("\n") && section.isWellFormed()) {
    return { intro: `"envelope":"${envelope}","value":`, section };
  }
  return { intro: '"text":', section: JSON.stringify(value) };
}

function priorText({ operation, length, crc }: Prior): string {
  const fields = operation === undefined ? "" : `{${fieldsOf(operation).slice(0, -1)}},`;
  return `[${fields}${length},"${hex(crc)}"]`;
}
