/** Deterministic words, so that every run writes the same. */
export function words(seed: number): (length: number) => string {
  const list =
    "agent plan search result token model tool answer question branch fork state thread step write read".split(" ");
  let state = seed + 1;
  return (length) => {
    let text = "";
    while (text.length < length) {
      state = (state * 1103515245 + 12345) & 0x7fffffff;
      text += `${list[state % list.length]}${state % 7 === 0 ? state % 1000 : ""} `;
    }
    return text.slice(0, length);
  };
}

export interface Message {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly tokens: number;
}

export type State = Record<string, unknown>;

/** A state, step by step. `changed` is the JSON of what the step changed. */
export interface Workload {
  readonly name: string;
  readonly steps: number;
  initial(): State;
  step(state: State, index: number): { readonly state: State; readonly changed: string };
}

export function messages(seed: number): (index: number) => Message {
  const text = words(seed);
  return (index) => ({
    id: `m${index}`,
    role: index % 2 ? "assistant" : "user",
    content: text(440),
    tokens: (index * 7) % 991,
  });
}

export function conversationUpdate(message: Message, index: number): { append: { messages: Message[] }; set: State } {
  return {
    append: { messages: [message] },
    set: { turn: index, last: message.id, status: index % 2 ? "act" : "plan" },
  };
}

/** What a step may cost in bytes, beside the conversation. */
export const others: readonly Workload[] = [
  {
    name: "50 files of 20 KB, one line of one edited a step",
    steps: 300,
    initial() {
      const text = words(1);
      const lines = (): string => Array.from({ length: 250 }, () => text(80)).join("\n");
      return { files: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`src/file-${index}.ts`, lines()])) };
    },
    step(state, index) {
      const files = { ...(state["files"] as Record<string, string>) };
      const name = `src/file-${(index * 7) % 50}.ts`;
      const lines = (files[name] as string).split("\n");
      const line = words(index)(80);
      lines[(index * 13) % lines.length] = line;
      files[name] = lines.join("\n");
      return { state: { ...state, files }, changed: JSON.stringify({ [name]: line }) };
    },
  },
  {
    name: "a 200 KB string that grows by a sentence",
    steps: 500,
    initial: () => ({ text: words(2)(200_000) }),
    step(state, index) {
      const sentence = `${words(index)(90)}. `;
      return {
        state: { ...state, text: (state["text"] as string) + sentence },
        changed: JSON.stringify({ text: sentence }),
      };
    },
  },
  {
    name: "a list of 1,000, trimmed to 50 now and then",
    steps: 2_500,
    initial: () => ({ messages: [], summary: "" }),
    step(state, index) {
      const list = state["messages"] as Message[];
      const message = messages(index)(index);
      const trim = list.length >= 1_000;
      const kept = trim ? list.slice(-50) : list;
      const summary = trim ? words(index)(300) : state["summary"];
      const changed = trim ? { message, summary } : { message };
      return { state: { messages: [...kept, message], summary }, changed: JSON.stringify(changed) };
    },
  },
  {
    name: "a state of 30 bytes",
    steps: 2_000,
    initial: () => ({ count: 0, status: "running" }),
    step: (state, index) => ({ state: { ...state, count: index }, changed: JSON.stringify({ count: index }) }),
  },
  {
    name: "a field of 20 KB, overwritten every step",
    steps: 400,
    initial: () => ({ title: "report", field: "" }),
    step(state, index) {
      const field = words(index)(20_000);
      return { state: { ...state, field }, changed: JSON.stringify({ field }) };
    },
  },
];
