import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { resumeCode } from "../../../display/steps/resume-code.ts";
import type { AnswerForm, QuestionFacts } from "../../api/answers.ts";
import { post } from "../api.ts";
import { Code } from "../parts/copy.tsx";
import { JsonEditor, parsedJson } from "../parts/dialog.tsx";
import { RichText } from "../parts/rich-text.tsx";
import { Preview } from "./changes.tsx";

interface QuestionCardProps {
  readonly question: QuestionFacts;
  readonly place: { readonly thread: string; readonly namespace: readonly string[]; readonly checkpoint: string };
  readonly readOnly: boolean;
  /** True if the thread asks nothing else. */
  readonly isOnly: boolean;
  /** The application that threads can be run on with. */
  readonly app: string | null;
  /** False for an earlier checkpoint: the thread has gone on. */
  readonly isHead: boolean;
  /** True among questions of other threads: then its name tells its thread. */
  readonly isAmongOthers?: boolean;
  readonly onDone: (text: string) => void;
}

/** Shows a question that a thread waits with, and what it can be answered with, in place. */
export function QuestionCard(props: QuestionCardProps): JSX.Element {
  const { question, place, readOnly, isHead, isAmongOthers = false } = props;
  const { id, node, text, details, answered, langgraph } = question;
  const [again, setAgain] = useState(false);
  const isOpen = isHead && (!answered || again);
  return (
    <section
      class={`question-card ${answered ? "answered" : ""} ${isHead ? "" : "past"}`}
      aria-label={`Question of ${node ?? id}${isAmongOthers ? ` in ${place.thread}, ${id}` : ""}`}
    >
      <p class="asker">
        <b>{node ?? "a task"}</b> {isHead && !answered ? "asks" : "asked"}
        {answered && <span class="tag done">answered, for the runner to pick up</span>}
      </p>
      <div class="question-text">
        <RichText text={text} />
      </div>
      {details && (
        <details open={!answered}>
          <summary>With the question</summary>
          <div class="question-details">
            <Preview node={details} isRoot />
          </div>
        </details>
      )}
      {!readOnly && answered && isHead && !again && !langgraph && (
        <button type="button" class="small" onClick={() => setAgain(true)}>
          Answer again …
        </button>
      )}
      {isOpen && <AnswerControls {...props} />}
    </section>
  );
}

/**
 * Shows buttons, a text or a form for an answer. LangGraph takes answers only from its caller: for it, the code is shown, and with
 * an application a button that runs the graph on.
 */
function AnswerControls({ question, place, readOnly, isOnly, app, onDone }: QuestionCardProps): JSX.Element | null {
  const { id, form, langgraph } = question;
  const [asJson, setAsJson] = useState(false);
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const [chosen, setChosen] = useState<{ value: unknown } | undefined>(undefined);
  const request = async (action: string, body: object, done: string): Promise<void> => {
    setBusy(true);
    setFailure("");
    try {
      await post(action, body);
      onDone(done);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  const send = async (value: unknown): Promise<void> => {
    if (langgraph) setChosen({ value });
    else {
      const done = "The answer is stored. The next run of the thread picks it up.";
      await request("answer", { ...place, interrupt: id, value }, done);
    }
  };
  const runOn = ({ value }: { readonly value: unknown }): Promise<void> =>
    request("run/start", { thread: place.thread, answers: { [id]: value } }, "The graph runs on with the answer.");
  if (readOnly && !langgraph) return null;
  return (
    <div class="answer" aria-busy={busy}>
      {asJson ? (
        <JsonAnswer disabled={busy} onAnswer={(value) => void send(value)} />
      ) : (
        <FormAnswer form={form} disabled={busy} onAnswer={(value) => void send(value)} />
      )}
      <button type="button" class="link" onClick={() => setAsJson(!asJson)}>
        {asJson ? "answer as asked" : "answer with JSON"}
      </button>
      {langgraph && (
        <>
          <p class="about">LangGraph takes the answer from its caller:</p>
          <Code text={`await ${resumeCode(place.thread, id, chosen, isOnly)};`} label="the command that answers" />
          {app !== null && !readOnly && (
            <button
              type="button"
              class="primary"
              disabled={busy || chosen === undefined}
              onClick={() => chosen && void runOn(chosen)}
            >
              Run on with the answer
            </button>
          )}
        </>
      )}
      <p class="failure" role="alert">
        {failure}
      </p>
    </div>
  );
}

interface AnswerProps {
  readonly disabled: boolean;
  readonly onAnswer: (value: unknown) => void;
}

function FormAnswer({ form, disabled, onAnswer }: AnswerProps & { readonly form: AnswerForm }): JSX.Element {
  if (form.kind === "choices")
    return (
      <div class="choices" role="group" aria-label="Answers">
        {form.choices.map(({ label, value }, index) => (
          <button
            key={index}
            type="button"
            class={index === 0 ? "primary" : ""}
            disabled={disabled}
            onClick={() => onAnswer(value)}
          >
            {label}
          </button>
        ))}
      </div>
    );
  if (form.kind === "yes-no")
    return (
      <div class="choices" role="group" aria-label="Answers">
        <button type="button" class="primary" disabled={disabled} onClick={() => onAnswer(true)}>
          Yes
        </button>
        <button type="button" disabled={disabled} onClick={() => onAnswer(false)}>
          No
        </button>
      </div>
    );
  if (form.kind === "form") return <SchemaForm fields={form.fields} disabled={disabled} onAnswer={onAnswer} />;
  return <TextAnswer disabled={disabled} onAnswer={onAnswer} />;
}

function TextAnswer({ disabled, onAnswer }: AnswerProps): JSX.Element {
  const [text, setText] = useState("");
  return (
    <form
      class="text-answer"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== "") onAnswer(text);
      }}
    >
      <textarea
        rows={2}
        aria-label="Answer"
        placeholder="Answer"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && text !== "") onAnswer(text);
        }}
      />
      <button type="submit" class="primary" disabled={disabled || text === ""}>
        Answer
      </button>
    </form>
  );
}

function JsonAnswer({ disabled, onAnswer }: AnswerProps): JSX.Element {
  const [text, setText] = useState("");
  const { value, fault } = parsedJson(text);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === undefined) onAnswer(value);
      }}
    >
      <JsonEditor
        label="Answer, as JSON"
        text={text}
        onText={setText}
        fault={text === "" ? undefined : fault}
        rows={4}
        hint={'Types that JSON lacks are tagged: { "$": "date", "v": 0 }.'}
      />
      <button type="submit" class="primary" disabled={disabled || fault !== undefined}>
        Answer
      </button>
    </form>
  );
}

type Fields = Extract<AnswerForm, { readonly kind: "form" }>["fields"];

function SchemaForm({ fields, disabled, onAnswer }: AnswerProps & { readonly fields: Fields }): JSX.Element {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const set = (name: string, text: string): void => setTexts((before) => ({ ...before, [name]: text }));
  const missing = fields.some(({ name, required, type }) => required && type !== "flag" && (texts[name] ?? "") === "");
  const faults = fields.filter(
    ({ name, type }) =>
      type === "json" && (texts[name] ?? "") !== "" && parsedJson(texts[name] ?? "").fault !== undefined,
  );
  const submit = (event: Event): void => {
    event.preventDefault();
    if (missing || faults.length > 0) return;
    const value: Record<string, unknown> = {};
    for (const { name, type, choices } of fields) {
      const text = texts[name] ?? "";
      if (type === "flag") value[name] = text === "true";
      else if (text === "") continue;
      else if (type === "number") value[name] = Number(text);
      else if (type === "choice") value[name] = choices?.[Number(text)]?.value;
      else if (type === "json") value[name] = parsedJson(text).value;
      else value[name] = text;
    }
    onAnswer(value);
  };
  return (
    <form class="schema-form" onSubmit={submit}>
      {fields.map(({ name, title, type, choices, required, about }) => (
        <label key={name} class={type === "flag" ? "check" : "field"}>
          {type === "flag" && (
            <input
              type="checkbox"
              checked={texts[name] === "true"}
              onChange={(event) => set(name, String(event.currentTarget.checked))}
            />
          )}
          <span>
            {title}
            {required && type !== "flag" ? " *" : ""}
          </span>
          {type === "choice" && (
            <select value={texts[name] ?? ""} onChange={(event) => set(name, event.currentTarget.value)}>
              <option value="">choose …</option>
              {choices?.map(({ label }, index) => (
                <option key={index} value={String(index)}>
                  {label}
                </option>
              ))}
            </select>
          )}
          {type === "text" && (
            <input value={texts[name] ?? ""} onInput={(event) => set(name, event.currentTarget.value)} />
          )}
          {type === "number" && (
            <input
              type="number"
              step="any"
              value={texts[name] ?? ""}
              onInput={(event) => set(name, event.currentTarget.value)}
            />
          )}
          {type === "json" && (
            <textarea rows={2} value={texts[name] ?? ""} onInput={(event) => set(name, event.currentTarget.value)} />
          )}
          {about && <small>{about}</small>}
        </label>
      ))}
      <button type="submit" class="primary" disabled={disabled || missing || faults.length > 0}>
        Answer
      </button>
    </form>
  );
}
