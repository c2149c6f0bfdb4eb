import { bytesOfBase64 } from "../../platform/bytes.ts";

/** A key of 32 bytes: as bytes, or as text in 64 hexadecimal digits or in base64. */
export type KeyMaterial = Uint8Array | string;

interface EncryptionSettings {
  /** Also take records that are not encrypted, until `rotate` has encrypted them all. @default false */
  readonly migrating?: boolean;
  /**
   * Hide thread ids, workflows, runs and attributes too: the store then finds threads by equality only, in an order of its own.
   * Decided when the store is begun; another value later is `KEY`. @default false in a new store, else as the store was begun
   */
  readonly hideIds?: boolean;
}

/** Keys that the program has. */
export interface NamedKeys extends EncryptionSettings {
  /** The name of the key that new data keys are wrapped with. */
  readonly current: string;
  /** Keys of 32 bytes by name. Data that is wrapped under a key can be read as long as the key is here. */
  readonly keys: { readonly [name: string]: KeyMaterial };
  readonly wrap?: never;
  readonly unwrap?: never;
}

/** A key service: it wraps and unwraps data keys of 32 bytes, and the program never sees its keys. */
export interface KeyService extends EncryptionSettings {
  /** The name that wrapped keys are stored with; `rotate` wraps those of other names anew. @default "" */
  readonly current?: string;
  /** Encrypts a data key; `name` is `current`. Called once for each new lineage. */
  wrap(dataKey: Uint8Array, name: string): Uint8Array | Promise<Uint8Array>;
  /** Decrypts what `wrap` gave, under the name that it was given. Called once for each lineage that is read. */
  unwrap(wrapped: Uint8Array, name: string): Uint8Array | Promise<Uint8Array>;
  readonly keys?: never;
}

/**
 * How a store is encrypted: with keys by name, or with a key service.
 *
 * @example
 * const store = await open("sqlite:agent.db", { encryption: { current: "2026-11", keys: { "2026-11": key, "2025": old } } });
 */
export type EncryptionOptions = NamedKeys | KeyService;

/** Returns the bytes of a key; undefined where it is none. */
export function keyBytes(key: unknown): Uint8Array | undefined {
  if (typeof key === "string") {
    const text = key.trim();
    if (/^[0-9a-f]{64}$/i.test(text)) {
      return Uint8Array.from({ length: 32 }, (_, index) => Number.parseInt(text.slice(2 * index, 2 * index + 2), 16));
    }
    if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
    const bytes = bytesOfBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
    return bytes.length === 32 ? bytes : undefined;
  }
  return key instanceof Uint8Array && key.length === 32 ? new Uint8Array(key) : undefined;
}
