import { readFileSync } from "node:fs";
import type { EncryptionOptions } from "../../model/interface/encryption.ts";
import { keyBytes } from "../../model/interface/encryption.ts";
import { usage } from "../failure.ts";

/**
 * Returns the keys of a store from a file, or from the environment: never from the arguments, which every user of the machine
 * can see. The text has a line `name=key` for each key, the current one first.
 */
export function keysOf(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): EncryptionOptions | undefined {
  const path = file ?? (env["THREADMARK_KEY_FILE"] || undefined);
  if (path !== undefined) return parsed(textOf(path), `The key file ${JSON.stringify(path)}`);
  const text = env["THREADMARK_KEYS"];
  return text ? parsed(text, "$THREADMARK_KEYS") : undefined;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw usage(`The key file ${JSON.stringify(path)} cannot be read: ${(error as Error).message}.`);
  }
}

function parsed(text: string, what: string): EncryptionOptions {
  const keys: Record<string, string> = {};
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line === "" || line.startsWith("#")) continue;
    const at = line.indexOf("=");
    const [name, key] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    // The line itself is never shown: it may be a key.
    if (at < 1 || keyBytes(key) === undefined) {
      throw usage(`${what} has a line that is not name=key, with a key of 32 bytes in hexadecimal digits or base64.`);
    }
    keys[name] = key;
  }
  const [current] = Object.keys(keys);
  if (current === undefined) throw usage(`${what} has no key. Give a line name=key for each, the current one first.`);
  return { current, keys };
}
