import { failureKey } from "../../display/steps/failure.ts";
import type { ThreadInfo } from "../../model/checkpoint.ts";
import { activityOf } from "../caches/activity.ts";
import type { ThreadHead } from "../caches/heads.ts";
import type { FailureGroups, Inbox, OverviewFacts } from "./answers.ts";
import type { ApiContext, Handler } from "./api-context.ts";
import { questionFacts } from "./questions.ts";

const LARGEST_PAGE = 200;
/** How long a list of all threads' questions or failures is gathered before it is sent as it is, in milliseconds. */
const PATIENCE = 400;

interface Gathered {
  readonly heads: readonly { readonly info: ThreadInfo; readonly head: ThreadHead }[];
  readonly complete: boolean;
}

/** Reads the heads of threads, newest first, until the patience ends. Heads that were read are remembered for next time. */
async function headsOf({ heads }: ApiContext, threads: readonly ThreadInfo[]): Promise<Gathered> {
  const deadline = performance.now() + PATIENCE;
  const found: { info: ThreadInfo; head: ThreadHead }[] = [];
  for (const info of threads) {
    if (performance.now() > deadline) return { heads: found, complete: false };
    const head = await heads.of(info).catch(() => undefined);
    if (head !== undefined) found.push({ info, head });
  }
  return { heads: found, complete: true };
}

/** Returns the open questions of all threads, newest first. */
export const inboxPage: Handler<Inbox> = async (context, parameters) => {
  const limit = parameters.whole("limit", 1, LARGEST_PAGE, 100);
  parameters.end();
  const page = await context.catalogue.page({ search: "", workflow: undefined, status: "waiting", offset: 0, limit });
  const { heads, complete } = await headsOf(context, page.threads);
  const questions = heads.flatMap(({ info, head }) =>
    head.questions.map((question) => ({
      thread: info.id,
      workflow: info.workflow,
      namespace: head.checkpoint.namespace,
      checkpoint: head.checkpoint.id,
      since: head.checkpoint.createdAt,
      ...questionFacts(question, head.answered, context.renderers),
    })),
  );
  return { questions, threads: page.total, complete: page.complete && complete };
};

const THREADS_SHOWN = 50;

/** Returns the failures of all threads, equal ones together, the most frequent first. */
export const failureGroups: Handler<FailureGroups> = async (context, parameters) => {
  const limit = parameters.whole("limit", 1, 2_000, 500);
  parameters.end();
  const page = await context.catalogue.page({ search: "", workflow: undefined, status: "failed", offset: 0, limit });
  const { heads, complete } = await headsOf(context, page.threads);
  const groups = new Map<
    string,
    {
      failure: ThreadHead["failures"][number];
      workflow: string | null;
      threads: { thread: string; at: number; message: string }[];
    }
  >();
  for (const { info, head } of heads) {
    const [failure] = head.failures;
    if (failure === undefined) continue;
    const key = `${info.workflow} ${failureKey(failure)}`;
    const group = groups.get(key) ?? { failure, workflow: info.workflow, threads: [] };
    group.threads.push({ thread: info.id, at: info.updatedAt, message: failure.message });
    groups.set(key, group);
  }
  const sorted = [...groups.values()].sort((left, right) => right.threads.length - left.threads.length);
  return {
    total: page.total,
    complete: page.complete && complete,
    groups: sorted.map(({ failure, workflow, threads }) => ({
      failure,
      workflow,
      count: threads.length,
      threads: threads.slice(0, THREADS_SHOWN),
    })),
  };
};

const DAY = 86_400_000;
const MOST_WORKFLOWS = 50;
const STRETCHES = 48;

/** Returns what somebody who opens the store wants to know first: who waits, what failed, what runs, and how it grows. */
export const overview: Handler<OverviewFacts> = async (context, parameters) => {
  parameters.end();
  const { catalogue } = context;
  const totals = await catalogue.totals();
  const { workflows, ...counts } = totals;
  return {
    ...counts,
    complete: catalogue.isComplete,
    listed: catalogue.isCut ? catalogue.listed.length : null,
    ...growthOf(catalogue.listed),
    workflows: workflows.slice(0, MOST_WORKFLOWS),
  };
};

type Growth = Pick<OverviewFacts, "checkpoints" | "activity">;

/** The answers of {@link growthOf} by the list they were made of, which changes less often than people ask. */
const growths = new WeakMap<readonly ThreadInfo[], { readonly to: number; readonly growth: Growth }>();

/** Returns activity and checkpoints of all threads that are listed. */
function growthOf(threads: readonly ThreadInfo[]): Growth {
  const now = Date.now();
  // Round numbers, so that the answer changes only now and then.
  const to = Math.ceil(now / 60_000) * 60_000;
  const known = growths.get(threads);
  if (known?.to === to) return known.growth;
  const oldest = threads.reduce((least, { createdAt }) => Math.min(least, createdAt), now);
  const span = Math.max(3_600_000, Math.min(30 * DAY, now - oldest));
  const growth = {
    checkpoints: threads.reduce((sum, { checkpoints }) => sum + checkpoints, 0),
    activity: activityOf(threads, to - Math.ceil(span / 3_600_000) * 3_600_000, to, STRETCHES),
  };
  growths.set(threads, { to, growth });
  return growth;
}
