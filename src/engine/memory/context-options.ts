import type { Backend } from "../../backend.ts";
import type { Compression } from "../../codec/envelope.ts";
import type { ValueCodec } from "../../codec/values/value.ts";
import type { LargeValueOptions } from "../../model/interface/store-options.ts";
import type { StateVersions } from "../../model/state-versions.ts";
import type { EncryptedBackend } from "../encryption/encrypted-backend.ts";

export interface ContextOptions {
  readonly backend: Backend;
  readonly codec: ValueCodec;
  readonly clock: () => number;
  /** Makes the ids of checkpoints; by default an id tells the checkpoint's address. */
  readonly ids: (() => string) | undefined;
  readonly cacheBytes: number;
  readonly compression: Compression;
  readonly versions?: StateVersions | undefined;
  readonly packRows?: number | undefined;
  readonly packBytes?: number | undefined;
  readonly checkpointBytes?: number | undefined;
  readonly rewriteBytes?: number | undefined;
  /** The backend once more, where it encrypts what it stores. */
  readonly encryption?: EncryptedBackend | undefined;
  /** From which length a value is stored by itself, and where. */
  readonly largeValues?: LargeValueOptions | undefined;
}
