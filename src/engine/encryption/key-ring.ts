import { ThreadmarkError } from "../../errors.ts";
import type { EncryptionOptions } from "../../model/interface/encryption.ts";
import { keyBytes } from "../../model/interface/encryption.ts";
import { cryptography } from "../../platform/node-builtins.ts";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

type KeyObject = ReturnType<ReturnType<typeof cryptography>["createSecretKey"]>;

/** The most bytes of a wrapped key: a lineage may have two of them in its meta records. */
const WRAPPED_BYTES = 8192;

/** A data key as it is stored: the name of the key that wraps it, and its bytes. */
export interface WrappedKey {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The named keys, which wrap data keys; or the service that has them. */
export class KeyRing {
  /** The name that data keys are wrapped under from now on. */
  readonly current: string;
  readonly #options: EncryptionOptions;
  readonly #keys = new Map<string, KeyObject>();

  constructor(options: EncryptionOptions) {
    this.#options = options;
    this.current = options.current ?? "";
    if ("keys" in options && options.keys !== undefined) {
      const { createSecretKey } = cryptography();
      for (const [name, key] of Object.entries(options.keys)) {
        this.#keys.set(name, createSecretKey(keyBytes(key) as Uint8Array));
      }
    }
  }

  /** Wraps a data key. `owner` is authenticated: a wrapped key cannot be passed off as that of another lineage. */
  async wrap(dataKey: Uint8Array, owner: string): Promise<WrappedKey> {
    const name = this.current;
    if (this.#options.wrap === undefined) return { name, bytes: this.#wrapHere(name, dataKey, owner) };
    const bytes = await this.#call("wrap", name, () => this.#options.wrap?.(dataKey, name));
    if (!(bytes instanceof Uint8Array) || bytes.length === 0 || bytes.length > WRAPPED_BYTES) {
      throw new TypeError(`encryption.wrap must give a Uint8Array of 1 to ${WRAPPED_BYTES} bytes.`);
    }
    return { name, bytes: new Uint8Array(bytes) };
  }

  /** Unwraps a data key. Throws `KEY` where the key is missing; resolves to undefined where it does not fit. */
  async unwrap({ name, bytes }: WrappedKey, owner: string): Promise<Uint8Array | undefined> {
    if (this.#options.unwrap === undefined) return this.#unwrapHere(name, bytes, owner);
    const key = await this.#call("unwrap", name, () => this.#options.unwrap?.(bytes, name));
    if (!(key instanceof Uint8Array)) throw new TypeError("encryption.unwrap must give a Uint8Array.");
    return key.length === 32 ? new Uint8Array(key) : undefined;
  }

  #wrapHere(name: string, dataKey: Uint8Array, owner: string): Uint8Array {
    const crypto = cryptography();
    const nonce = crypto.randomBytes(NONCE_BYTES);
    const cipher = crypto.createCipheriv(ALGORITHM, this.#key(name), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(aboutOf(name, owner));
    return Buffer.concat([nonce, cipher.update(dataKey), cipher.final(), cipher.getAuthTag()]);
  }

  #unwrapHere(name: string, wrapped: Uint8Array, owner: string): Uint8Array | undefined {
    if (wrapped.length !== NONCE_BYTES + 32 + TAG_BYTES) return undefined;
    const nonce = wrapped.subarray(0, NONCE_BYTES);
    const decipher = cryptography().createDecipheriv(ALGORITHM, this.#key(name), nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(aboutOf(name, owner));
    decipher.setAuthTag(wrapped.subarray(-TAG_BYTES));
    const key = decipher.update(wrapped.subarray(NONCE_BYTES, -TAG_BYTES));
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return key;
  }

  #key(name: string): KeyObject {
    const key = this.#keys.get(name);
    if (key) return key;
    const known = [...this.#keys.keys()].map((other) => JSON.stringify(other)).join(", ");
    throw new ThreadmarkError(
      "KEY",
      `Data is encrypted under the key ${JSON.stringify(name)}, and encryption.keys has ${known}. Add that key.`,
    );
  }

  async #call<T>(what: string, name: string, call: () => T): Promise<Awaited<T>> {
    try {
      return await call();
    } catch (cause) {
      if (cause instanceof ThreadmarkError) throw cause;
      const fault = cause instanceof Error ? cause.message : String(cause);
      throw new ThreadmarkError(
        "KEY",
        `The key service failed to ${what} a data key (key ${JSON.stringify(name)}): ${fault}. Check it, and try again.`,
        { cause },
      );
    }
  }
}

function aboutOf(name: string, owner: string): Buffer {
  return Buffer.from(`threadmark key ${JSON.stringify([name, owner])}`);
}
