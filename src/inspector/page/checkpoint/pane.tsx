import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ageText, bytesText } from "../../../display/quantities.ts";
import { stepTitle } from "../../../display/steps/step-name.ts";
import type { Blame, CheckpointFacts, Fork, Step } from "../../api/answers.ts";
import { CheckpointActions } from "../actions/checkpoint.tsx";
import { RunPanel } from "../actions/run.tsx";
import { addressOf, get } from "../api.ts";
import { refresh, useLiveAnswers } from "../live.ts";
import { Copy } from "../parts/copy.tsx";
import { addressOfRoute, type PageRoute, replaceRoute, threadAddress } from "../route.ts";
import { Changes } from "./changes.tsx";
import { Conversation } from "./conversation.tsx";
import { Details } from "./details.tsx";
import { FailureBanner } from "./failure.tsx";
import { QuestionCard } from "./question.tsx";
import { StateTree } from "./tree.tsx";
import { Writes } from "./writes.tsx";

interface CheckpointPaneProps {
  readonly route: PageRoute;
  readonly readOnly: boolean;
  readonly app: string | null;
  /** The newest checkpoint of the thread, once it is known. */
  readonly head: string | undefined;
  readonly forks: readonly Fork[];
  readonly notify: (text: string) => void;
  readonly onMove: (step: 1 | -1) => void;
}

/** Returns the parts of a checkpoint that have a tab, in the order of the tabs. */
function tabsOf(
  facts: Pick<CheckpointFacts, "messages"> | undefined,
): readonly (readonly [id: string, name: string])[] {
  const tabs = [
    ["state", "State"],
    ["changes", "Changes"],
    ["writes", "Writes"],
    ["details", "Details"],
  ] as const;
  return facts?.messages ? [["conversation", "Conversation"], ...tabs] : tabs;
}

/** Shows a checkpoint: the chosen one, or the head as it moves. */
export function CheckpointPane({
  route,
  readOnly,
  app,
  head,
  forks,
  notify,
  onMove,
}: CheckpointPaneProps): JSX.Element {
  const { thread, namespace } = route;
  const id = route.checkpoint ?? head;
  // Answers and writes arrive after the checkpoint was committed.
  const [{ value: facts, error } = {}] = useLiveAnswers<CheckpointFacts>(
    id === undefined ? [] : [addressOf("checkpoint", { thread, namespace, checkpoint: id })],
  );
  if (error !== undefined)
    return (
      <section class="pane detail" aria-label="Checkpoint">
        <div class="nothing">
          <h1>There is no such checkpoint</h1>
          <p role="alert">{error.message}</p>
          <a href={threadAddress(route, thread, { namespace })}>Show the newest of the thread</a>
        </div>
      </section>
    );
  if (facts === undefined || facts.checkpoint.id !== id)
    return (
      <section class="pane detail" aria-label="Checkpoint">
        <p class="skeleton" />
      </section>
    );
  const { checkpoint, size } = facts;
  const done = (text: string): void => {
    notify(text);
    refresh();
  };
  const tabs = tabsOf(facts);
  const tab = tabs.find(([name]) => name === route.tab)?.[0] ?? tabs[0]![0];
  const pick = (next: string): void => replaceRoute({ ...route, tab: next, path: undefined });
  const isHead = id === head;
  const place = { thread, namespace, checkpoint: checkpoint.id };
  return (
    <section class="pane detail" aria-label="Checkpoint">
      <div class="title">
        <a
          class="back"
          href={threadAddress(route, thread, { namespace, shape: route.shape })}
          aria-label="Back to the timeline"
        >
          ‹
        </a>
        <h1>{stepTitle(checkpoint, facts.ran)}</h1>
        {checkpoint.label !== "" && <span class="tag label">{checkpoint.label}</span>}
        {isHead && route.checkpoint === undefined && <span class="tag">newest</span>}
        <div class="actions">
          <button type="button" aria-label="Newer step" title="Newer step (k)" onClick={() => onMove(-1)}>
            ↑
          </button>
          <button type="button" aria-label="Older step" title="Older step (j)" onClick={() => onMove(1)}>
            ↓
          </button>
          <CheckpointActions facts={facts} route={route} readOnly={readOnly} onDone={done} />
        </div>
      </div>
      <p class="about">
        <Copy text={checkpoint.id} label="Copy the checkpoint's id" class="id">
          <code>{checkpoint.id}</code>
        </Copy>
        <time title={new Date(checkpoint.createdAt).toLocaleString()}>{ageText(checkpoint.createdAt, Date.now())}</time>
        <span title={size.inherited ? "shared with the thread it was forked from" : ""}>
          {bytesText(size.bytes)}
          {size.full ? ", whole" : ""}
          {size.inherited ? ", shared" : ""}
        </span>
        <span>
          {facts.next.length === 0
            ? "nothing next"
            : `next: ${[...new Set(facts.next.map(({ node }) => node))].join(", ")}`}
        </span>
        {forks
          .filter((fork) => fork.checkpoint === checkpoint.id)
          .map((fork) => (
            <a
              key={fork.thread}
              class="fork"
              href={threadAddress(route, fork.thread)}
              title={`forked here: ${fork.thread}`}
            >
              ↳ {fork.thread}
            </a>
          ))}
      </p>
      {(facts.failures.length > 0 || facts.questions.length > 0 || (app !== null && isHead)) && (
        <div class="cards">
          {app !== null && isHead && namespace.length === 0 && (
            <RunPanel thread={thread} app={app} isUnfinished={facts.next.length > 0} />
          )}
          <FailureBanner facts={facts} route={route} />
          {facts.questions.map((question) => (
            <QuestionCard
              key={`${checkpoint.id} ${question.id}`}
              question={question}
              place={place}
              readOnly={readOnly}
              isOnly={facts.questions.length === 1}
              app={app}
              isHead={isHead}
              onDone={done}
            />
          ))}
        </div>
      )}
      <div class="tabs" role="tablist" aria-label="Parts of the checkpoint">
        {tabs.map(([name, title], index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab === name}
            aria-controls="tab-panel"
            tabIndex={tab === name ? 0 : -1}
            onClick={() => pick(name)}
            onKeyDown={(event) => {
              const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
              if (step === undefined) return;
              const next = tabs[(index + step + tabs.length) % tabs.length]![0];
              pick(next);
              document.getElementById(`tab-${next}`)?.focus();
            }}
          >
            {title}
            {name === "writes" && facts.writes.length > 0 && <small> {facts.writes.length}</small>}
            {name === "conversation" && facts.messages && <small> {facts.messages.count.toLocaleString("en")}</small>}
          </button>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={-1}>
        <Panel tab={tab} route={route} facts={facts} />
      </div>
    </section>
  );
}

function Panel({
  tab,
  route,
  facts,
}: {
  readonly tab: string;
  readonly route: PageRoute;
  readonly facts: CheckpointFacts;
}): JSX.Element {
  const { thread, namespace } = route;
  const place = { thread, namespace, checkpoint: facts.checkpoint.id };
  const key = JSON.stringify(place);
  const [blamed, setBlamed] = useState<
    { readonly path: readonly Step[]; readonly blame: Blame | undefined; readonly failure?: string } | undefined
  >(undefined);
  if (tab === "changes") return <Changes route={route} facts={facts} />;
  if (tab === "writes") return <Writes key={key} facts={facts} place={place} />;
  if (tab === "details") return <Details facts={facts} route={route} place={place} />;
  if (tab === "conversation")
    return <Conversation key={key} place={place} onPlace={(path) => replaceRoute({ ...route, tab: "state", path })} />;
  const ask = async (path: readonly Step[]): Promise<void> => {
    setBlamed({ path, blame: undefined });
    try {
      let blame = await get<Blame>("state/blame", { ...place, path });
      // A long history is looked through in several requests, each of which says how far it came.
      while (blame.more) {
        setBlamed({ path, blame });
        blame = await get<Blame>("state/blame", { ...place, path, from: blame.at });
      }
      setBlamed({ path, blame });
    } catch (error) {
      setBlamed({ path, blame: undefined, failure: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <>
      {blamed && <BlameLine key={key} blamed={blamed} route={route} onClose={() => setBlamed(undefined)} />}
      <StateTree
        key={`${key} ${JSON.stringify(route.path ?? null)}`}
        place={place}
        search
        mark={route.path}
        onBlame={(path) => void ask(path)}
      />
    </>
  );
}

interface BlameLineProps {
  readonly blamed: { readonly path: readonly Step[]; readonly blame: Blame | undefined; readonly failure?: string };
  readonly route: PageRoute;
  readonly onClose: () => void;
}

/** Says which step made a value what it is, with a way there. */
function BlameLine({ blamed, route, onClose }: BlameLineProps): JSX.Element {
  const { path, blame, failure } = blamed;
  return (
    <p class="blame" role="status">
      <code>{path.map(String).join(".")}</code>{" "}
      {failure !== undefined ? (
        failure
      ) : blame === undefined ? (
        "…"
      ) : blame.more ? (
        `is as it was at step ${blame.step}; looking further back …`
      ) : (
        <>
          has been so since{" "}
          <a
            href={addressOfRoute({ ...route, checkpoint: blame.at, tab: "changes", path: undefined, base: undefined })}
          >
            {stepTitle(blame)}
          </a>
          , {ageText(blame.createdAt, Date.now())}
          {blame.before === null ? (
            ""
          ) : (
            <>
              ; before: <code>{blame.before}</code>
            </>
          )}
        </>
      )}{" "}
      <button type="button" class="small" aria-label="Close" onClick={onClose}>
        ×
      </button>
    </p>
  );
}
