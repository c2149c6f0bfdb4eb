import { answer, check, fork, label, pruneForGood, prunePreview, remove } from "./actions.ts";
import type { Handler } from "./api-context.ts";
import {
  checkpointFacts,
  checkpointMarks,
  freeName,
  historyPage,
  stateDiff,
  storeFacts,
  threadFacts,
  threadPage,
} from "./facts.ts";
import { startSurvey, storageFacts } from "./storage.ts";
import { stateNode, stateSearch, stateText, stateValue } from "./tree.ts";

export interface Route {
  readonly method: "GET" | "POST";
  readonly handler: Handler;
  /** True if the route changes the store: such routes are absent in read-only mode. */
  readonly changes?: true;
}

/** Every path of the API. docs/http.md describes them in this order. */
export const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["/api/store", { method: "GET", handler: storeFacts }],
  ["/api/threads", { method: "GET", handler: threadPage }],
  ["/api/thread", { method: "GET", handler: threadFacts }],
  ["/api/history", { method: "GET", handler: historyPage }],
  ["/api/marks", { method: "GET", handler: checkpointMarks }],
  ["/api/checkpoint", { method: "GET", handler: checkpointFacts }],
  ["/api/state", { method: "GET", handler: stateNode }],
  ["/api/state/text", { method: "GET", handler: stateText }],
  ["/api/state/value", { method: "GET", handler: stateValue }],
  ["/api/state/search", { method: "GET", handler: stateSearch }],
  ["/api/diff", { method: "GET", handler: stateDiff }],
  ["/api/storage", { method: "GET", handler: storageFacts }],
  ["/api/storage/measure", { method: "POST", handler: startSurvey }],
  ["/api/free-name", { method: "GET", handler: freeName }],
  ["/api/check", { method: "POST", handler: check }],
  ["/api/prune/preview", { method: "POST", handler: prunePreview }],
  ["/api/fork", { method: "POST", handler: fork, changes: true }],
  ["/api/answer", { method: "POST", handler: answer, changes: true }],
  ["/api/label", { method: "POST", handler: label, changes: true }],
  ["/api/prune", { method: "POST", handler: pruneForGood, changes: true }],
  ["/api/delete", { method: "POST", handler: remove, changes: true }],
]);
