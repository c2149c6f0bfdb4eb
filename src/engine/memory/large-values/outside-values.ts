import type { Value } from "../../../backend.ts";
import { UNREADABLE } from "../../../codec/envelope.ts";
import { ThreadmarkError } from "../../../errors.ts";
import type { StoredObject, ValueDriver } from "../../../model/interface/store-options.ts";
import { utf8 } from "../../../platform/bytes.ts";
import { newObjectName, type OutsideObject } from "../../records/values.ts";

/** Objects that are uploaded or deleted at once. */
const AT_ONCE = 8;

/** Encrypts objects outside the store, each with a key of its own, which the record in the store holds. */
export interface ObjectCipher {
  encryptObject(name: string, bytes: Uint8Array): { readonly bytes: Uint8Array; readonly key: string };
  /** Returns undefined where the object is not the one that was encrypted under this name. */
  decryptObject(name: string, bytes: Uint8Array, key: string): Uint8Array | undefined;
}

/** The record of a large value, to be kept as an object outside the store. */
export interface OutsideRecord {
  /** The name of the value. */
  readonly name: string;
  readonly record: Value;
}

/** The large values outside the store, through the driver that the store was opened with. */
export class OutsideValues {
  readonly #driver: ValueDriver | undefined;
  readonly #cipher: ObjectCipher | undefined;

  constructor(driver: ValueDriver | undefined, cipher: ObjectCipher | undefined) {
    this.#driver = driver;
    this.#cipher = cipher;
  }

  /** Returns true if new values go outside. */
  get isUsed(): boolean {
    return this.#driver !== undefined;
  }

  /**
   * Uploads values of a lineage and resolves to the names of the objects, with the keys that they are encrypted with. A name is
   * never used again, whether or not the commit succeeds.
   */
  async write(lineage: number, values: readonly OutsideRecord[]): Promise<readonly OutsideObject[]> {
    const names = values.map(({ name }) => newObjectName(lineage, name));
    const objects: OutsideObject[] = [];
    await inTurns(names, async (name, index) => {
      const { bytes, key } = this.#encrypted(name, bytesOf((values[index] as OutsideRecord).record));
      objects[index] = { object: name, key };
      await this.#call("put", () => this.#given().put(name, bytes));
    });
    return objects;
  }

  #encrypted(name: string, bytes: Uint8Array): { readonly bytes: Uint8Array; readonly key?: string } {
    return this.#cipher ? this.#cipher.encryptObject(name, bytes) : { bytes };
  }

  /** Reads an object; `key` where it is encrypted. */
  async read(name: string, key: string | undefined): Promise<Value | undefined> {
    const bytes = await this.#call("get", () => this.#given().get(name));
    if (bytes === undefined || key === undefined) return bytes && valueOf(bytes);
    const plain = this.#cipher?.decryptObject(name, bytes, key);
    return plain === undefined ? UNREADABLE : valueOf(plain);
  }

  /** Deletes objects that no record names any more. An object that stays behind is found by the next compaction. */
  async delete(names: readonly string[]): Promise<void> {
    if (!this.#driver) return;
    await inTurns(names, async (name) => {
      try {
        await this.#given().delete(name);
      } catch {
        // The commit stands, and must not look failed: compact() deletes what is left over.
      }
    });
  }

  /** Deletes an object that was left over. */
  async sweep(name: string): Promise<void> {
    await this.#call("delete", () => this.#given().delete(name));
  }

  async *list(): AsyncGenerator<StoredObject> {
    if (!this.#driver) return;
    const objects = this.#driver.list()[Symbol.asyncIterator]();
    for (;;) {
      const next = await this.#call("list", () => objects.next());
      if (next.done) return;
      yield next.value;
    }
  }

  #given(): ValueDriver {
    if (this.#driver) return this.#driver;
    throw new ThreadmarkError(
      "UNSUPPORTED",
      "A large value is outside the store. Open the store with the driver that put it there: largeValues: { driver }.",
    );
  }

  async #call<T>(what: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (cause) {
      if (cause instanceof ThreadmarkError) throw cause;
      const fault = cause instanceof Error ? cause.message : String(cause);
      throw new ThreadmarkError("BACKEND", `The driver of large values failed to ${what}: ${fault}`, {
        committed: false,
        cause,
      });
    }
  }
}

async function inTurns(names: readonly string[], call: (name: string, index: number) => Promise<void>): Promise<void> {
  for (let start = 0; start < names.length; start += AT_ONCE) {
    await Promise.all(names.slice(start, start + AT_ONCE).map((name, index) => call(name, start + index)));
  }
}

function bytesOf(value: Value): Uint8Array {
  return typeof value === "string" ? utf8(value) : value;
}

/** The second character of a value tells whether it is text. */
const TEXT = "j".charCodeAt(0);

function valueOf(bytes: Uint8Array): Value {
  return bytes[1] === TEXT ? new TextDecoder().decode(bytes) : bytes;
}
