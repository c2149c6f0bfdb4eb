import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { countText, pathText } from "../../../display/quantities.ts";
import { stepTitle } from "../../../display/steps/step-name.ts";
import type { CheckpointFacts, Diff, PreviewNode, ShownChange, Step } from "../../api/answers.ts";
import { useAnswer } from "../answer.ts";
import { get, type Parameters } from "../api.ts";
import { Leaf } from "../parts/leaf.tsx";
import { type PageRoute, replaceRoute } from "../route.ts";
import { StateTree } from "./tree.tsx";

/** Shows the differences between this checkpoint and another: its parent, unless another was picked in the timeline. */
export function Changes({ route, facts }: { readonly route: PageRoute; readonly facts: CheckpointFacts }): JSX.Element {
  const { thread, namespace } = route;
  const { id, parent } = facts.checkpoint;
  const before = route.base ?? parent ?? undefined;
  const { value, error, loading } = useAnswer<Diff | undefined>(
    async (signal) =>
      before === undefined ? undefined : get<Diff>("diff", { thread, namespace, before, after: id }, signal),
    [thread, JSON.stringify(namespace), before, id],
  );
  const base = useAnswer<CheckpointFacts | undefined>(
    async (signal) =>
      route.base === undefined
        ? undefined
        : get<CheckpointFacts>("checkpoint", { thread, namespace, checkpoint: route.base }, signal),
    [thread, JSON.stringify(namespace), route.base],
  );
  return (
    <div class="panel-scroll">
      <p class="about">
        <span>
          Compared with{" "}
          {route.base === undefined
            ? parent === null
              ? "nothing: it is the first"
              : "its parent"
            : base.value
              ? stepTitle(base.value.checkpoint, base.value.ran)
              : "…"}
        </span>
        {route.base !== undefined ? (
          <button
            type="button"
            class="small"
            onClick={() => replaceRoute({ ...route, base: undefined, tab: "changes" })}
          >
            with its parent
          </button>
        ) : (
          <span>Shift and click a step to compare with that.</span>
        )}
      </p>
      {error && (
        <p class="failure" role="alert">
          {error.message}
        </p>
      )}
      {before === undefined && <p class="empty">The first checkpoint: all of its state is new.</p>}
      {loading && value === undefined && before !== undefined && <p class="skeleton" />}
      {value && (
        <ChangeList
          diff={value}
          before={{ thread, namespace, checkpoint: before ?? "" }}
          after={{ thread, namespace, checkpoint: id }}
        />
      )}
    </div>
  );
}

interface ChangeListProps {
  readonly diff: Diff;
  readonly before: Parameters;
  readonly after: Parameters;
}

/** Shows changes by path. Each value can be opened as deep as it goes; what LangGraph changed for itself is folded. */
export function ChangeList({ diff, before, after }: ChangeListProps): JSX.Element {
  const [internals, setInternals] = useState(false);
  const own = diff.changes.filter((change) => !change.internal);
  const internal = diff.changes.filter((change) => change.internal);
  const shown = diff.total - diff.internal;
  return (
    <>
      <p class="about">
        {shown === 0
          ? diff.internal === 0
            ? "The states are equal."
            : "Nothing but internals changed."
          : countText(shown, "change")}
      </p>
      <ul class="changes">
        {own.map((change) => (
          <ChangeRow key={pathText(change.path)} change={change} before={before} after={after} />
        ))}
      </ul>
      {diff.internal > 0 && (
        <>
          <button type="button" class="fold" aria-expanded={internals} onClick={() => setInternals(!internals)}>
            {internals ? "▾" : "▸"} internals ({diff.internal})
          </button>
          {internals && (
            <ul class="changes">
              {internal.map((change) => (
                <ChangeRow key={pathText(change.path)} change={change} before={before} after={after} />
              ))}
            </ul>
          )}
        </>
      )}
      {diff.total > diff.changes.length && <p class="about">The first {diff.changes.length} are shown.</p>}
    </>
  );
}

const SIGNS = { added: "+", removed: "−", changed: "~" } as const;

function ChangeRow({
  change,
  before,
  after,
}: {
  readonly change: ShownChange;
  readonly before: Parameters;
  readonly after: Parameters;
}): JSX.Element {
  const { path, kind } = change;
  return (
    <li class={kind}>
      <code class="path">
        <span role="img" aria-label={kind}>
          {SIGNS[kind]}
        </span>{" "}
        {pathText(path)}
      </code>
      {change.before && (
        <div class="old">
          <ChangedValue node={change.before} place={before} path={path} side="before" />
        </div>
      )}
      {change.after && (
        <div class="new">
          <ChangedValue node={change.after} place={after} path={path} side="after" />
        </div>
      )}
    </li>
  );
}

interface ChangedValueProps {
  readonly node: PreviewNode;
  readonly place: Parameters;
  readonly path: readonly Step[];
  readonly side: string;
}

/** Shows a value with the parts that were sent along; a button opens the whole value as a tree. */
function ChangedValue({ node, place, path, side }: ChangedValueProps): JSX.Element {
  const [open, setOpen] = useState(false);
  const isCut = hasMore(node);
  if (open) return <StateTree place={place} at={path} label={`${pathText(path)}, ${side}`} />;
  return (
    <>
      <Preview node={node} isRoot />
      {isCut && (
        <button
          type="button"
          class="small"
          aria-label={`Open all of ${pathText(path)}, ${side}`}
          onClick={() => setOpen(true)}
        >
          open all
        </button>
      )}
    </>
  );
}

function hasMore(node: PreviewNode): boolean {
  if (node.length !== undefined) return true;
  if (node.parts === 0) return false;
  return (node.children?.length ?? 0) < node.parts || (node.children ?? []).some(hasMore);
}

/** Shows a value with the parts that were sent along. */
export function Preview({
  node,
  isRoot = false,
}: {
  readonly node: PreviewNode;
  readonly isRoot?: boolean;
}): JSX.Element {
  const { children, parts, type, title } = node;
  if (children === undefined) return <Leaf node={node} />;
  // The fields of a plain object say enough by themselves.
  const isPlain = isRoot && title === undefined && children.length > 0 && (type === "object" || type === "array");
  return (
    <>
      {!isPlain && <Leaf node={node} open />}
      <ul class={`parts ${isPlain ? "plain" : ""}`}>
        {children.map((part) => (
          <li key={String(part.step)}>
            <span class="key">{part.label}</span>
            <Preview node={part} />
          </li>
        ))}
        {parts > children.length && <li class="more">… {(parts - children.length).toLocaleString("en")} more</li>}
      </ul>
    </>
  );
}
