import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { pathText } from "../../../display/quantities.ts";
import type { Step } from "../../api/answers.ts";
import type { Parameters } from "../api.ts";
import { copyText } from "../parts/copy.tsx";
import { Leaf } from "../parts/leaf.tsx";
import { type FlowHandle, VirtualFlow } from "../parts/virtual-flow.tsx";
import { StateSearch } from "./search.tsx";
import { GAP_PAGE, isCut, TreeModel, type TreeNode, type TreeRow } from "./tree-model.ts";

interface StateTreeProps {
  /** The checkpoint, and the part of it. */
  readonly place: Parameters;
  /** The path inside. */
  readonly at?: readonly Step[];
  readonly search?: boolean;
  /** The path to open and mark at first. */
  readonly mark?: readonly Step[] | undefined;
  /** Shows which step made a value what it is. */
  readonly onBlame?: (path: readonly Step[]) => void;
  readonly label?: string;
}

/**
 * Shows a state as a tree that is read as it is opened, and of which only the rows in sight exist. It is a single tab stop:
 * arrows move, open and close; c copies, b asks which step made the value.
 */
export function StateTree({ place, at = [], search = false, mark, onBlame, label }: StateTreeProps): JSX.Element {
  const model = useMemo(() => new TreeModel(place, at), []);
  const [, setVersion] = useState(0);
  const [failure, setFailure] = useState("");
  const [notice, setNotice] = useState("");
  const [query, setQuery] = useState("");
  const [current, setCurrent] = useState<TreeNode | "internals" | undefined>(undefined);
  const handle = useRef<FlowHandle>(null);
  const box = useRef<HTMLDivElement>(null);
  const asked = useRef(new Set<string>());
  const redraw = (): void => setVersion((version) => version + 1);

  const run = async (work: Promise<unknown>): Promise<void> => {
    try {
      await work;
      setFailure("");
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
    redraw();
  };
  const jump = (path: readonly Step[]): Promise<void> =>
    run(
      model.open(path).then((node) => {
        if (node === undefined) return;
        setCurrent(node);
        redraw();
        requestAnimationFrame(() => {
          handle.current?.reveal(model.rows().findIndex((row) => row.kind === "node" && row.node === node));
          requestAnimationFrame(() => focusRow(box.current, rowKey({ kind: "node", node, level: 1 })));
        });
      }),
    );
  useEffect(() => {
    if (mark === undefined) void run(model.load(model.root, 0));
    else void jump([...at, ...mark]);
  }, []);

  const copy = async (node: TreeNode): Promise<void> => {
    await copyText(JSON.stringify(await model.value(node), null, 2));
    setNotice(`Copied ${pathText(node.path) || "the state"}.`);
  };
  const enter = (node: TreeNode): void => {
    if (node.parts > 0) void run(model.toggle(node));
    else if (node.whole && !isCut(node)) {
      node.whole = false;
      redraw();
    } else void run(model.readOn(node));
  };
  const rows = model.rows();
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isCurrent = (row: TreeRow): boolean =>
      row.kind === "internals" ? current === "internals" : row.kind === "node" && row.node === current;
    const here = rows.findIndex(isCurrent);
    const row = rows[here];
    if (row === undefined) return;
    const focus = (index: number): void => {
      const next = rows[index];
      if (next === undefined || next.kind === "gap") return;
      setCurrent(next.kind === "internals" ? "internals" : next.node);
      handle.current?.reveal(index);
      requestAnimationFrame(() => focusRow(box.current, rowKey(next)));
    };
    const node = row.kind === "node" ? row.node : undefined;
    const isOpen = row.kind === "internals" ? row.open : node?.open === true && node.parts > 0;
    if (event.key === "ArrowDown") focus(rows.findIndex((one, index) => index > here && one.kind !== "gap"));
    else if (event.key === "ArrowUp") focus(rows.findLastIndex((one, index) => index < here && one.kind !== "gap"));
    else if (event.key === "Home") focus(0);
    else if (event.key === "End") focus(rows.findLastIndex((one) => one.kind !== "gap"));
    else if (row.kind === "internals" && ["ArrowRight", "ArrowLeft", "Enter", " "].includes(event.key))
      toggleInternal();
    else if (event.key === "ArrowRight" && node !== undefined && node.parts > 0 && !node.open) enter(node);
    else if (event.key === "ArrowLeft" && isOpen && node !== undefined) enter(node);
    else if (event.key === "ArrowLeft" && row.kind === "node")
      focus(rows.findLastIndex((one, index) => index < here && one.kind === "node" && one.level < row.level));
    else if ((event.key === "Enter" || event.key === " ") && node !== undefined) enter(node);
    else if (event.key === "c" && node !== undefined) void copy(node);
    else if (event.key === "b" && node !== undefined && onBlame !== undefined) onBlame(node.path);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  /** Reads stretches of a long list as they come into sight. */
  const look = (first: number, last: number): void => {
    for (const row of rows.slice(first, last + 1)) {
      if (row.kind !== "gap" || asked.current.has(rowKey(row))) continue;
      asked.current.add(rowKey(row));
      void run(model.load(row.node, row.from));
    }
  };
  const toggleInternal = (): void => {
    model.showInternal = !model.showInternal;
    redraw();
  };

  const firstRow = rows[0];
  const marked = current ?? (firstRow?.kind === "node" ? firstRow.node : "internals");
  return (
    <div class="tree-box" ref={box}>
      {search && (
        <StateSearch
          place={place}
          onPick={(path) => void jump(path)}
          onQuery={setQuery}
          onCopy={() => void copy(model.root)}
        />
      )}
      {failure !== "" && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      <p class="quiet" role="status">
        {notice}
      </p>
      {model.root.type === undefined ? (
        failure === "" && <p class="skeleton" />
      ) : (
        <VirtualFlow
          class="tree"
          role="tree"
          label={label ?? (at.length === 0 ? "State" : pathText(at))}
          count={rows.length}
          estimate={22}
          handle={handle}
          keyOf={(index) => rowKey(rows[index]!)}
          onKeyDown={press}
          onRange={look}
          row={(index) => {
            const row = rows[index]!;
            if (row.kind === "internals")
              return (
                <div
                  class="tree-row internals"
                  role="treeitem"
                  tabIndex={marked === "internals" ? 0 : -1}
                  aria-level={1}
                  aria-expanded={row.open}
                  data-row={rowKey(row)}
                  onClick={toggleInternal}
                  onFocus={() => setCurrent("internals")}
                >
                  <span class="twist" aria-hidden="true">
                    {row.open ? "▾" : "▸"}
                  </span>
                  internals ({row.count})
                </div>
              );
            if (row.kind === "gap")
              return (
                <button
                  type="button"
                  class="gap"
                  style={{ paddingLeft: `${row.level * 16}px` }}
                  onClick={() => void run(model.load(row.node, row.from))}
                >
                  ⋯ {Math.min(GAP_PAGE, row.count).toLocaleString("en")} of {row.count.toLocaleString("en")} more
                </button>
              );
            return (
              <NodeRow
                row={row}
                isMarked={row.node === marked}
                query={query}
                onFocus={() => setCurrent(row.node)}
                onEnter={() => enter(row.node)}
                onCopy={() => void copy(row.node)}
                onBlame={onBlame && (() => onBlame(row.node.path))}
              />
            );
          }}
        />
      )}
    </div>
  );
}

interface NodeRowProps {
  readonly row: Extract<TreeRow, { readonly kind: "node" }>;
  readonly isMarked: boolean;
  readonly query: string;
  readonly onFocus: () => void;
  readonly onEnter: () => void;
  readonly onCopy: () => void;
  readonly onBlame: (() => void) | undefined;
}

function NodeRow({ row, isMarked, query, onFocus, onEnter, onCopy, onBlame }: NodeRowProps): JSX.Element {
  const { node, level } = row;
  const opens = node.parts > 0;
  const isLong = node.type === "string" && (isCut(node) || node.text.length > 60 || node.text.includes("\n"));
  return (
    <div
      class={`tree-row ${node.whole ? "whole" : ""}`}
      role="treeitem"
      tabIndex={isMarked ? 0 : -1}
      aria-level={level}
      aria-expanded={opens ? node.open : undefined}
      data-path={node.key}
      data-row={rowKey(row)}
      style={{ paddingLeft: `${(level - 1) * 16}px` }}
      onFocus={onFocus}
      onClick={(event) => {
        if ((event.target as Element).closest("button")) return;
        event.currentTarget.focus();
        if (opens || (isLong && !node.whole)) onEnter();
      }}
    >
      <span class="twist" aria-hidden="true">
        {opens ? (node.open ? "▾" : "▸") : ""}
      </span>
      {node.label !== undefined && <span class="key">{node.label}</span>}
      <span class="content">
        <Leaf
          node={{ ...node, type: node.type ?? "", length: node.length, title: node.title } as never}
          open={opens && node.open}
          mark={query}
        />
        {node.whole && isCut(node) && (
          <button type="button" tabIndex={-1} class="small" onClick={onEnter}>
            read on
          </button>
        )}
      </span>
      <span class="row-actions">
        {onBlame && (
          <button
            type="button"
            tabIndex={-1}
            class="small"
            aria-label={`Which step made ${pathText(node.path)}`}
            onClick={onBlame}
          >
            blame
          </button>
        )}
        <button
          type="button"
          tabIndex={-1}
          class="small copy"
          aria-label={`Copy ${pathText(node.path) || "the value"} as JSON`}
          onClick={onCopy}
        >
          copy
        </button>
      </span>
    </div>
  );
}

function rowKey(row: TreeRow): string {
  if (row.kind === "internals") return "internals";
  return row.kind === "gap" ? `gap ${row.node.key} ${row.from}` : row.node.key;
}

function focusRow(box: HTMLElement | null, key: string): void {
  box?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}
