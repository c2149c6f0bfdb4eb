import type { Thread } from "../../api/thread.ts";
import type { Checkpoint } from "../../model/checkpoint.ts";
import { RecentMap } from "../../platform/recent-map.ts";
import { HttpError } from "../http/http-error.ts";

type State = Record<string, unknown>;

const KEPT = 4;
const LIFETIME = 10_000;

/**
 * The checkpoints read last. A large state is read in many small parts, and decoding it for each would take longer than
 * everything else. They are kept for a short time only, since a checkpoint can be replaced.
 */
export class RecentCheckpoints {
  readonly #recent = new RecentMap<string, { readonly at: number; readonly checkpoint: Promise<Checkpoint<State>> }>(
    KEPT,
  );

  async get(thread: Thread<State>, id: string): Promise<Checkpoint<State>> {
    const key = JSON.stringify([thread.id, thread.namespace, id]);
    const known = this.#recent.get(key);
    const fresh = known !== undefined && performance.now() - known.at < LIFETIME;
    const entry = fresh ? known : { at: performance.now(), checkpoint: read(thread, id) };
    this.#recent.set(key, entry);
    try {
      return await entry.checkpoint;
    } catch (error) {
      this.#recent.delete(key);
      throw error;
    }
  }
}

async function read(thread: Thread<State>, id: string): Promise<Checkpoint<State>> {
  const checkpoint = await thread.get(id);
  if (checkpoint !== undefined) return checkpoint;
  const message = `Thread ${JSON.stringify(thread.id)} has no checkpoint ${JSON.stringify(id)}.`;
  throw new HttpError(404, "NOT_FOUND", message);
}
