import type { Store } from "../../src/index.ts";
import { checkState } from "../systems/check-state.ts";
import { conversation, type Message, message } from "./conversation.ts";
import type { State, Step } from "./workload.ts";

/**
 * The conversation, in which each step is made ready before it is timed. Its list grows in place: copying it at every step
 * would leave garbage, whose collection would fall on what is timed.
 */
export class Talk {
  readonly state: State & { messages: Message[] };
  steps = 0;
  #ready: Step | undefined;

  constructor(state: State = conversation.initial()) {
    this.state = { ...state, messages: [...(state["messages"] as Message[])] };
  }

  prepare(): void {
    this.steps += 1;
    const index = this.state.messages.length;
    const added = message(index);
    const set = { turn: index, last: added.id, status: index % 2 ? "act" : "plan" };
    this.state.messages.push(added);
    Object.assign(this.state, set);
    const update = { append: { messages: [added] }, set };
    this.#ready = { state: this.state, update, changed: JSON.stringify(update) };
  }

  get ready(): Step {
    if (!this.#ready) throw new Error("No step was prepared.");
    return this.#ready;
  }
}

/** A conversation on a thread of a Threadmark store. */
export class StoredTalk extends Talk {
  readonly thread: ReturnType<Store<State>["thread"]>;

  private constructor(store: Store<State>, id: string, state?: State) {
    super(state);
    this.thread = store.thread(id);
  }

  /** Returns the thread on a store that was opened since. */
  on(store: Store<State>): StoredTalk {
    const talk = new StoredTalk(store, this.thread.id, this.state);
    talk.steps = this.steps;
    return talk;
  }

  /** A thread with so many steps in it. */
  static async begin(store: Store<State>, id: string, length: number): Promise<StoredTalk> {
    const talk = new StoredTalk(store, id);
    await talk.thread.put({ state: talk.state });
    while (talk.steps < length) {
      talk.prepare();
      await talk.putUpdate();
    }
    return talk;
  }

  putUpdate(): Promise<unknown> {
    return this.thread.put({ update: this.ready.update as object, ...this.#fields() });
  }

  putState(): Promise<unknown> {
    return this.thread.put({ state: this.ready.state, ...this.#fields() });
  }

  #fields(): { node: string; next: string[] } {
    return this.steps % 2 ? { node: "act", next: ["plan"] } : { node: "plan", next: ["act"] };
  }

  /** Throws unless the store holds the state that was put. */
  async check(): Promise<void> {
    checkState((await this.thread.latest())?.state as State, this.state, "Threadmark");
  }
}

/** Compiles the way of a put, on threads that are not measured: the compiler takes its time on a busy machine. */
export async function warmUpdates(store: Store<State>): Promise<void> {
  for (let thread = 0; thread < 10; thread += 1) await StoredTalk.begin(store, `warm-${thread}`, 1_500);
}

/** Warms up puts of whole states: finding the change is code of its own, and so is the start of a thread. */
export async function warmStates(store: Store<State>): Promise<void> {
  for (let thread = 0; thread < 20; thread += 1) {
    const talk = await StoredTalk.begin(store, `warm-states-${thread}`, 300);
    for (let step = 0; step < 100; step += 1) {
      talk.prepare();
      await talk.putState();
    }
  }
}
