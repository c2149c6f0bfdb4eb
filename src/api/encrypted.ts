import type { Backend } from "../backend.ts";
import type { EncryptedBackend } from "../engine/encryption/encrypted-backend.ts";
import type { EncryptionOptions } from "../model/interface/encryption.ts";

/** Returns a backend that encrypts what this one stores. The web build has `web/encrypted.ts` instead. */
export async function encrypted(backend: Backend, options: EncryptionOptions): Promise<EncryptedBackend> {
  const { EncryptedBackend } = await import("../engine/encryption/encrypted-backend.ts");
  return new EncryptedBackend(backend, options);
}
