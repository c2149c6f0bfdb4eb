import { conversation } from "./conversation.ts";
import { fanOut } from "./fan-out.ts";
import { editedFiles } from "./files.ts";
import { langchain } from "./langchain.ts";
import { overwrittenField } from "./overwritten.ts";
import { growingText } from "./text.ts";
import { tiny } from "./tiny.ts";
import { toolResults } from "./tool-results.ts";
import { trimmedList } from "./trimmed.ts";
import type { Workload } from "./workload.ts";

/** Every workload. */
export const workloads: readonly Workload[] = [
  conversation,
  langchain,
  toolResults,
  editedFiles,
  growingText,
  tiny,
  trimmedList,
  overwrittenField,
  fanOut,
];
