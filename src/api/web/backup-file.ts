import { ThreadmarkError } from "../../errors.ts";

/** Browsers have no files: a bundle of `export` can be stored anywhere. Replaces `../backup-file.ts` in the web build. */
export async function writeBackup(): Promise<never> {
  throw unsupported("backup");
}

export async function restoreFiles(): Promise<never> {
  throw unsupported("restore");
}

function unsupported(call: string): ThreadmarkError {
  return new ThreadmarkError(
    "UNSUPPORTED",
    `The web build has no files for ${call}. Use store.export() and store.import() instead.`,
  );
}
