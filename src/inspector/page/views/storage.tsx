import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { careFacts } from "../../../display/care.ts";
import { ageText, bytesText, countText } from "../../../display/quantities.ts";
import type { StorageFacts } from "../../api/answers.ts";
import { ExportDialog } from "../actions/export.tsx";
import { PruneDialog } from "../actions/prune.tsx";
import { post } from "../api.ts";
import { refresh, useLive } from "../live.ts";
import { Plot } from "../parts/plot.tsx";
import { addressOfRoute } from "../route.ts";

const KINDS = [
  ["packs", "older checkpoints, sealed"],
  ["tail", "newest checkpoints"],
  ["values", "large values, each stored once"],
  ["writes", "results of tasks"],
  ["metadata", "threads and labels"],
  ["index", "finding checkpoints"],
  ["directory", "finding threads by id"],
  ["entries", "finding threads by anything else"],
  ["log", "telling watchers"],
] as const;
const PARTS = ["packs", "tail", "values", "writes", "metadata", "index"] as const;

/** Shows where the bytes are. The first visit starts a measurement of all threads in the background. */
export function Storage({
  readOnly,
  notify,
}: {
  readonly readOnly: boolean;
  readonly notify: (text: string) => void;
}): JSX.Element {
  const { value: facts, error } = useLive<StorageFacts>("storage", { limit: 100 });
  const [open, setOpen] = useState("");
  const close = (): void => setOpen("");
  const measure = async (): Promise<void> => {
    await post("storage/measure", {});
    refresh();
  };
  useEffect(() => {
    if (facts?.state === "none") void measure();
  }, [facts?.state]);
  const {
    stats,
    growth = [],
    sizes = [],
    prunes = [],
    state,
    measured = 0,
    threads = 0,
    total = 0,
    message,
    finishedAt = 0,
  } = facts ?? {};
  return (
    <section class="pane storage" aria-label="Storage">
      <div class="title">
        <h1>Storage</h1>
        <div class="actions">
          <button type="button" disabled={state === "running"} onClick={() => void measure()}>
            Measure again
          </button>
          {!readOnly && (
            <button type="button" onClick={() => setOpen("export")}>
              Export …
            </button>
          )}
          {!readOnly && (
            <button type="button" onClick={() => setOpen("prune")}>
              Prune …
            </button>
          )}
        </div>
      </div>
      <p class="about" role="status">
        {error?.message ?? ""}
        {state === "running"
          ? `Measuring: ${measured.toLocaleString("en")} of ${threads.toLocaleString("en")} threads`
          : ""}
        {state === "failed" ? message : ""}
        {state === "done" ? `Measured ${ageText(finishedAt, Date.now())}` : ""}
      </p>
      {stats && <Totals stats={stats} />}
      {stats && <Care stats={stats} />}
      {growth.length > 1 && (
        <>
          <h2>Growth</h2>
          <Plot points={growth} label="Bytes of checkpoints by when they were committed" />
        </>
      )}
      {prunes.length > 0 && (
        <>
          <h2>What a prune would give back</h2>
          <Prunes prunes={prunes} />
        </>
      )}
      {sizes.length > 0 && (
        <>
          <h2>By thread</h2>
          <Sizes sizes={sizes} total={total} />
        </>
      )}
      {open === "export" && <ExportDialog checkpoints={stats?.checkpoints} onClose={close} />}
      {open === "prune" && (
        <PruneDialog
          onClose={close}
          onDone={(text) => {
            notify(text);
            void measure();
          }}
        />
      )}
    </section>
  );
}

function Totals({ stats }: { readonly stats: NonNullable<StorageFacts["stats"]> }): JSX.Element {
  const { threads, checkpoints, bytes } = stats;
  const sum = KINDS.reduce((total, [kind]) => total + bytes[kind], 0);
  return (
    <>
      <p class="big">
        <b>{bytesText(bytes.total)}</b> stored, {countText(threads, "thread")}, {countText(checkpoints, "checkpoint")}
        {bytes.total > sum && (
          <span class="about">
            {" "}
            Records take {bytesText(sum)} of it; the rest is room of the medium: pages, its indexes, its own log.
          </span>
        )}
      </p>
      <div class="stack" aria-hidden="true">
        {KINDS.map(([kind]) => (
          <span key={kind} class={`kind ${kind}`} style={{ flexGrow: bytes[kind] }} />
        ))}
      </div>
      <table class="kinds">
        <caption class="hidden">Bytes by kind</caption>
        <tbody>
          {KINDS.map(([kind, meaning]) => (
            <tr key={kind}>
              <th scope="row">
                <span class={`swatch kind ${kind}`} aria-hidden="true" /> {kind}
              </th>
              <td>{bytesText(bytes[kind])}</td>
              <td>{sum === 0 ? "" : `${Math.round((100 * bytes[kind]) / sum)} %`}</td>
              <td class="meaning">{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Shows how the store is looked after: encryption, state versions, the last sweep and the last backup. */
function Care({ stats }: { readonly stats: NonNullable<StorageFacts["stats"]> }): JSX.Element {
  return (
    <table class="care">
      <caption class="hidden">How the store is looked after</caption>
      <tbody>
        {careFacts(stats, Date.now(), (at) => new Date(at).toLocaleString()).map(([name, text]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="meaning">{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Prunes({ prunes }: { readonly prunes: StorageFacts["prunes"] }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Prunes">
      <table class="prunes">
        <caption class="hidden">What a prune of every thread would give back; labelled checkpoints stay</caption>
        <thead>
          <tr>
            <th scope="col">Keep of each thread</th>
            <th scope="col">Gives back</th>
            <th scope="col">Checkpoints</th>
            <th scope="col">Threads</th>
          </tr>
        </thead>
        <tbody>
          {prunes.map(({ keepLast, threads, deleted, bytesReclaimed }) => (
            <tr key={keepLast}>
              <th scope="row">{keepLast === 1 ? "the newest" : `the newest ${keepLast}`}, and what is labelled</th>
              <td>{bytesText(bytesReclaimed)}</td>
              <td>{deleted.toLocaleString("en")}</td>
              <td>{threads.toLocaleString("en")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Sizes({ sizes, total }: { readonly sizes: StorageFacts["sizes"]; readonly total: number }): JSX.Element {
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Bytes by thread">
        <table class="sizes">
          <thead>
            <tr>
              <th scope="col">Thread</th>
              <th scope="col">Bytes</th>
              <th scope="col">Checkpoints</th>
              {PARTS.map((kind) => (
                <th key={kind} scope="col">
                  {kind}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sizes.map(({ thread, bytes, checkpoints }) => (
              <tr key={thread}>
                <th scope="row">
                  <a href={addressOfRoute({ view: "thread", thread })} title={thread}>
                    {thread}
                  </a>
                </th>
                <td>{bytesText(bytes.total)}</td>
                <td>{checkpoints.toLocaleString("en")}</td>
                {PARTS.map((kind) => (
                  <td key={kind}>{bytesText(bytes[kind])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {total > sizes.length && (
        <p class="about">
          The largest {sizes.length} of {total.toLocaleString("en")}. A fork counts without what it shares with its
          source.
        </p>
      )}
    </>
  );
}
