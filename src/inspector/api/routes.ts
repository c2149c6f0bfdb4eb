import { answer, check, fork, label, pruneForGood, prunePreview, remove } from "./actions.ts";
import type { Handler } from "./api-context.ts";
import { failureGroups, inboxPage, overview } from "./inbox.ts";
import { runFacts, startRun, stopRun } from "./runs.ts";
import { startSurvey, storageFacts } from "./storage.ts";
import { checkpointFacts, stateDiff } from "./thread/checkpoint.ts";
import { blame, compareThreads } from "./thread/compare.ts";
import { conversationPage } from "./thread/conversation.ts";
import { threadGraph } from "./thread/graph.ts";
import { checkpointMarks, historyPage, timelinePage, timelinePosition } from "./thread/history.ts";
import { threadTimes } from "./thread/times.ts";
import { stateNode, stateSearch, stateText, stateValue } from "./thread/tree.ts";
import { freeName, storeFacts, threadFacts, threadPage } from "./threads.ts";

export interface ApiRoute {
  readonly method: "GET" | "POST";
  readonly handler: Handler;
  /** True if the route changes the store: such routes are absent in read-only mode. */
  readonly changes?: true;
}

/** Every path of the API. docs/reference/http.md describes them in this order. */
export const routes: ReadonlyMap<string, ApiRoute> = new Map<string, ApiRoute>([
  ["/api/store", { method: "GET", handler: storeFacts }],
  ["/api/overview", { method: "GET", handler: overview }],
  ["/api/inbox", { method: "GET", handler: inboxPage }],
  ["/api/failures", { method: "GET", handler: failureGroups }],
  ["/api/threads", { method: "GET", handler: threadPage }],
  ["/api/thread", { method: "GET", handler: threadFacts }],
  ["/api/timeline", { method: "GET", handler: timelinePage }],
  ["/api/timeline/position", { method: "GET", handler: timelinePosition }],
  ["/api/history", { method: "GET", handler: historyPage }],
  ["/api/marks", { method: "GET", handler: checkpointMarks }],
  ["/api/graph", { method: "GET", handler: threadGraph }],
  ["/api/times", { method: "GET", handler: threadTimes }],
  ["/api/compare", { method: "GET", handler: compareThreads }],
  ["/api/checkpoint", { method: "GET", handler: checkpointFacts }],
  ["/api/conversation", { method: "GET", handler: conversationPage }],
  ["/api/state", { method: "GET", handler: stateNode }],
  ["/api/state/text", { method: "GET", handler: stateText }],
  ["/api/state/value", { method: "GET", handler: stateValue }],
  ["/api/state/search", { method: "GET", handler: stateSearch }],
  ["/api/state/blame", { method: "GET", handler: blame }],
  ["/api/diff", { method: "GET", handler: stateDiff }],
  ["/api/storage", { method: "GET", handler: storageFacts }],
  ["/api/storage/measure", { method: "POST", handler: startSurvey }],
  ["/api/run", { method: "GET", handler: runFacts }],
  ["/api/free-name", { method: "GET", handler: freeName }],
  ["/api/check", { method: "POST", handler: check }],
  ["/api/prune/preview", { method: "POST", handler: prunePreview }],
  ["/api/fork", { method: "POST", handler: fork, changes: true }],
  ["/api/answer", { method: "POST", handler: answer, changes: true }],
  ["/api/label", { method: "POST", handler: label, changes: true }],
  ["/api/prune", { method: "POST", handler: pruneForGood, changes: true }],
  ["/api/delete", { method: "POST", handler: remove, changes: true }],
  ["/api/run/start", { method: "POST", handler: startRun, changes: true }],
  ["/api/run/stop", { method: "POST", handler: stopRun, changes: true }],
]);
