import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ageText, countText } from "../../../display/quantities.ts";
import type { Inbox, InboxQuestion } from "../../api/answers.ts";
import { post } from "../api.ts";
import { QuestionCard } from "../checkpoint/question.tsx";
import { refresh, useLive } from "../live.ts";
import { type PageRoute, threadAddress } from "../route.ts";

interface InboxViewProps {
  readonly route: PageRoute;
  readonly readOnly: boolean;
  readonly app: string | null;
  readonly notify: (text: string) => void;
}

/** Shows the open questions of all threads, to be answered in place, several at once where they offer the same answers. */
export function InboxView({ route, readOnly, app, notify }: InboxViewProps): JSX.Element {
  const { value, error } = useLive<Inbox>("inbox", { limit: 200 });
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const done = (text: string): void => {
    notify(text);
    refresh();
  };
  const questions = value?.questions ?? [];
  const open = questions.filter(({ answered }) => !answered);
  const answered = questions.filter((question) => question.answered);
  const chosen = open.filter((question) => picked.has(keyOf(question)));
  return (
    <section class="pane inbox" aria-label="Inbox">
      <div class="title">
        <h1>Inbox</h1>
        <span class="about" role="status">
          {value === undefined
            ? ""
            : open.length === 0
              ? ""
              : `${countText(open.length, "open question")}${value.complete ? "" : ", still reading …"}`}
        </span>
      </div>
      {error && (
        <p class="failure banner" role="alert">
          {error.message}
        </p>
      )}
      {value !== undefined && open.length === 0 && value.complete && (
        <div class="nothing">
          <h2>Nobody waits</h2>
          <p>Questions that threads ask appear here, from the runtime and from LangGraph.</p>
        </div>
      )}
      {!readOnly && chosen.length > 0 && (
        <Together
          questions={chosen}
          onDone={(text) => {
            setPicked(new Set());
            done(text);
          }}
        />
      )}
      {open.map((question) => (
        <article key={keyOf(question)} class="inbox-entry">
          <header>
            {!readOnly && !question.langgraph && (
              <input
                type="checkbox"
                aria-label={`Choose the question of ${question.thread}`}
                checked={picked.has(keyOf(question))}
                onChange={(event) => {
                  const next = new Set(picked);
                  if (event.currentTarget.checked) next.add(keyOf(question));
                  else next.delete(keyOf(question));
                  setPicked(next);
                }}
              />
            )}
            <a href={threadAddress(route, question.thread, { namespace: question.namespace })}>{question.thread}</a>
            {question.workflow && <span class="about">{question.workflow}</span>}
            <time class="when" title={new Date(question.since).toLocaleString()}>
              {ageText(question.since, Date.now())}
            </time>
          </header>
          <QuestionCard
            question={question}
            place={placeOf(question)}
            readOnly={readOnly}
            isOnly={open.filter(({ thread }) => thread === question.thread).length === 1}
            app={app}
            isHead
            isAmongOthers
            onDone={done}
          />
        </article>
      ))}
      {answered.length > 0 && (
        <details class="answered-list">
          <summary>{countText(answered.length, "answer")} waiting for a run</summary>
          {answered.map((question) => (
            <p key={keyOf(question)}>
              <a href={threadAddress(route, question.thread)}>{question.thread}</a> {question.text}
            </p>
          ))}
        </details>
      )}
    </section>
  );
}

function keyOf({ thread, checkpoint, id }: InboxQuestion): string {
  return JSON.stringify([thread, checkpoint, id]);
}

function placeOf({ thread, namespace, checkpoint }: InboxQuestion): {
  thread: string;
  namespace: readonly string[];
  checkpoint: string;
} {
  return { thread, namespace, checkpoint };
}

/** Answers several questions at once with an answer that all of them offer. */
function Together({
  questions,
  onDone,
}: {
  readonly questions: readonly InboxQuestion[];
  readonly onDone: (text: string) => void;
}): JSX.Element {
  const [failure, setFailure] = useState("");
  const [text, setText] = useState("");
  const offered = commonChoices(questions);
  const send = async (value: unknown): Promise<void> => {
    const failures: string[] = [];
    for (const question of questions) {
      try {
        await post("answer", { ...placeOf(question), interrupt: question.id, value });
      } catch (error) {
        failures.push(`${question.thread}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    setFailure(failures.join(" "));
    if (failures.length < questions.length)
      onDone(`${countText(questions.length - failures.length, "answer")} stored.`);
  };
  return (
    <div class="together" role="group" aria-label="Answer the chosen questions">
      <span>{countText(questions.length, "question")} chosen:</span>
      {offered.map(({ label, value }) => (
        <button key={label} type="button" onClick={() => void send(value)}>
          {label}
        </button>
      ))}
      {offered.length === 0 && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text !== "") void send(text);
          }}
        >
          <input
            aria-label="One answer for all"
            placeholder="one answer for all"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit" disabled={text === ""}>
            Answer all
          </button>
        </form>
      )}
      <p class="failure" role="alert">
        {failure}
      </p>
    </div>
  );
}

function commonChoices(
  questions: readonly InboxQuestion[],
): readonly { readonly label: string; readonly value: unknown }[] {
  const lists = questions.map(({ form }) =>
    form.kind === "yes-no"
      ? [
          { label: "Yes", value: true },
          { label: "No", value: false },
        ]
      : form.kind === "choices"
        ? form.choices
        : [],
  );
  const [first = [], ...rest] = lists;
  return first.filter((choice) =>
    rest.every((list) => list.some((other) => JSON.stringify(other) === JSON.stringify(choice))),
  );
}
