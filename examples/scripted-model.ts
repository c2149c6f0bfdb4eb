/** A message of a chat with a scripted model, which needs no provider and no key. */
export interface Message {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
  /** The tool that the assistant wants to use. */
  readonly call?: { readonly tool: string; readonly input: string };
}

export type Model = (messages: readonly Message[]) => Promise<Message>;

/** Answers the last message by the first rule whose pattern matches it. */
export function scriptedModel(rules: readonly (readonly [RegExp, Omit<Message, "role">])[]): Model {
  return async (messages) => {
    const last = messages.at(-1)?.text ?? "";
    const [, answer] = rules.find(([pattern]) => pattern.test(last)) ?? [undefined, { text: "I do not know." }];
    return { role: "assistant", ...answer };
  };
}
