import { utf8 } from "../../platform/bytes.ts";
import { cryptography } from "../../platform/node-builtins.ts";

type NodeCrypto = ReturnType<typeof cryptography>;
type KeyObject = ReturnType<NodeCrypto["createSecretKey"]>;

/** Bytes of a key, of the id of a key, of a nonce and of a tag. */
export const KEY_BYTES = 32;
const ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The version and codec that the bytes of an encrypted value begin with, and the length of its key header. */
const MAGIC = utf8("2e");
const HEADER_AT = 4;
const NO_HEADER = new Uint8Array(0);
const ALGORITHM = "aes-256-gcm";

/**
 * A key that values are encrypted with: AES-256-GCM. The place of a value is authenticated with it, so that the bytes read
 * nowhere else. The nonce is made of the key, the place and the value (as in SIV modes): equal values at one place give
 * equal bytes, which is how a backend compares them; different ones share a nonce with a chance of 2^-96.
 */
export class DataKey {
  /** Names the key in the values that it encrypts. */
  readonly id: number;
  /** The key itself, to be wrapped. */
  readonly bytes: Uint8Array;
  readonly #crypto: NodeCrypto = cryptography();
  readonly #cipher: KeyObject;
  readonly #nonces: KeyObject;

  constructor(bytes: Uint8Array) {
    const crypto = this.#crypto;
    const derived = Buffer.from(crypto.hkdfSync("sha256", bytes, "", "threadmark data key", 2 * KEY_BYTES + ID_BYTES));
    this.bytes = bytes;
    this.#cipher = crypto.createSecretKey(derived.subarray(0, KEY_BYTES));
    this.#nonces = crypto.createSecretKey(derived.subarray(KEY_BYTES, 2 * KEY_BYTES));
    this.id = derived.readUInt32BE(2 * KEY_BYTES);
  }

  static random(): DataKey {
    return new DataKey(cryptography().randomBytes(KEY_BYTES));
  }

  /** Encrypts a value for a place. The header stays readable, and is authenticated. */
  encrypt(place: string, value: string | Uint8Array, header: Uint8Array = NO_HEADER): Uint8Array {
    const crypto = this.#crypto;
    const about = aboutOf(place, header);
    const plain = typeof value === "string" ? utf8(value) : value;
    const nonce = crypto
      .createHmac("sha256", this.#nonces)
      .update(about)
      .update(plain)
      .digest()
      .subarray(0, NONCE_BYTES);
    const cipher = crypto.createCipheriv(ALGORITHM, this.#cipher, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(about);
    const start = Buffer.allocUnsafe(HEADER_AT + header.length + ID_BYTES);
    start.set(MAGIC);
    start.writeUInt16BE(header.length, MAGIC.length);
    start.set(header, HEADER_AT);
    start.writeUInt32BE(this.id, HEADER_AT + header.length);
    return Buffer.concat([start, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  /** Decrypts a value of a place; undefined where it is not what this key encrypted for that place. */
  decrypt(place: string, stored: Uint8Array): Buffer | undefined {
    const header = headerOf(stored);
    const nonceAt = HEADER_AT + headerLength(stored) + ID_BYTES;
    if (stored.length < nonceAt + NONCE_BYTES + TAG_BYTES || keyIdOf(stored) !== this.id) return undefined;
    const textAt = nonceAt + NONCE_BYTES;
    const tagAt = stored.length - TAG_BYTES;
    const nonce = stored.subarray(nonceAt, textAt);
    const decipher = this.#crypto.createDecipheriv(ALGORITHM, this.#cipher, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(aboutOf(place, header));
    decipher.setAuthTag(stored.subarray(tagAt));
    const plain = decipher.update(stored.subarray(textAt, tagAt));
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return plain;
  }
}

/** Returns the authenticated data: the length of the place tells it from the header. */
function aboutOf(place: string, header: Uint8Array): Buffer {
  const text = Buffer.from(`${place.length}:${place}`);
  return header.length === 0 ? text : Buffer.concat([text, header]);
}

/** Returns true if a value is encrypted, whether or not it is damaged. */
export function isEncrypted(value: string | Uint8Array): value is Uint8Array {
  return typeof value !== "string" && value[0] === MAGIC[0] && value[1] === MAGIC[1];
}

/** Returns the header of an encrypted value: the wrapped keys of its lineage, in a meta record. */
export function headerOf(stored: Uint8Array): Uint8Array {
  const length = headerLength(stored);
  return length === 0 ? NO_HEADER : stored.subarray(HEADER_AT, HEADER_AT + length);
}

function headerLength(stored: Uint8Array): number {
  if (stored.length < HEADER_AT) return 0;
  return ((stored[MAGIC.length] as number) << 8) | (stored[MAGIC.length + 1] as number);
}

/** Returns the id of the key that an encrypted value names; undefined where it is cut off. */
export function keyIdOf(stored: Uint8Array): number | undefined {
  const at = HEADER_AT + headerLength(stored);
  if (stored.length < at + ID_BYTES) return undefined;
  let id = 0;
  for (let place = at; place < at + ID_BYTES; place += 1) id = (id << 8) | (stored[place] as number);
  return id >>> 0;
}
