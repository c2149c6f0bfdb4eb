export type Role = "system" | "user" | "assistant" | "tool" | "other";

/** The roles that libraries give to messages, in small letters. */
export const ROLES: Readonly<Record<string, Role>> = {
  system: "system",
  developer: "system",
  user: "user",
  human: "user",
  assistant: "assistant",
  ai: "assistant",
  model: "assistant",
  tool: "tool",
  function: "tool",
  data: "other",
  generic: "other",
};

/** The classes of LangChain's messages, without the ending of their chunks. */
export const CLASSES: Readonly<Record<string, Role>> = {
  SystemMessage: "system",
  HumanMessage: "user",
  AIMessage: "assistant",
  ToolMessage: "tool",
  FunctionMessage: "tool",
  ChatMessage: "other",
  RemoveMessage: "other",
};
