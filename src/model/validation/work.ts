import { checkId } from "../address.ts";
import type {
  BackupOptions,
  ExportOptions,
  ResumableOptions,
  RotateOptions,
  StatsOptions,
  WorkOptions,
} from "../interface/store-options.ts";
import {
  checkBoolean,
  checkFunction,
  checkIds,
  checkOptions,
  checkSignal,
  checkText,
  type Fields,
  optional,
} from "./checks.ts";

export const workKeys: readonly (keyof WorkOptions)[] = ["progress", "signal"];

/** Checks the options of `call`, which goes through the whole store. */
export function checkWorkOptions(options: WorkOptions, call: string): WorkOptions {
  checkWork(checkOptions(options, workKeys, call));
  return { ...options };
}

/** Checks the options of `call`, which goes through the threads in the order of their ids and can go on behind one. */
export function checkResumableOptions(options: ResumableOptions, call: string): ResumableOptions {
  const fields = checkOptions(options, [...workKeys, "after"], call);
  checkWork(fields);
  optional(fields, "after", (value) => checkId(value, "A thread id"));
  return { ...options };
}

export function checkStatsOptions(options: StatsOptions): StatsOptions {
  optional(checkOptions(options, ["signal"], "stats"), "signal", checkSignal);
  return { ...options };
}

export function checkRotateOptions(options: RotateOptions): RotateOptions {
  const fields = checkOptions(options, [...workKeys, "data"], "rotate");
  checkWork(fields);
  optional(fields, "data", checkBoolean);
  return { ...options };
}

export function checkBackupOptions(options: BackupOptions): BackupOptions {
  const fields = checkOptions(options, [...workKeys, "since"], "backup");
  checkWork(fields);
  optional(fields, "since", checkText);
  return { ...options };
}

export function checkExportOptions(options: ExportOptions): ExportOptions {
  const fields = checkOptions(options, [...workKeys, "threads", "after", "encrypted"], "export");
  checkWork(fields);
  optional(fields, "encrypted", checkBoolean);
  optional(fields, "after", (value) => checkId(value, "A thread id"));
  if (options.after !== undefined && options.threads !== undefined) {
    throw new TypeError("export takes threads, which it exports in their order, or after, not both.");
  }
  optional(fields, "threads", (value, what) => checkIds(value, what, "A thread id"));
  return { ...options, ...(options.threads !== undefined && { threads: [...options.threads] }) };
}

export function checkWork(fields: Fields): void {
  optional(fields, "progress", checkFunction);
  optional(fields, "signal", checkSignal);
}
