import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { isQuestionName } from "../../display/steps/resume-code.ts";
import { fromTagged } from "../../display/tagged-json.ts";
import type { RunOrder } from "./run-order.ts";

/**
 * The process in which `threadmark ui --app` runs a thread on: imports the application, finds its workflow or its graph of
 * LangGraph, and resumes the thread. The output is what the application prints, and a last line on how the run ended.
 */

interface Workflow {
  readonly name: string;
  resume(options: { readonly thread: string }): Promise<{ readonly status?: string }>;
}

/** A compiled graph of LangGraph. */
interface Graph {
  getGraphAsync(): Promise<{ readonly nodes: Readonly<Record<string, unknown>> }>;
  invoke(input: unknown, config: object): Promise<unknown>;
}

const [file = ""] = process.argv.slice(2);
const order = JSON.parse(await text(process.stdin)) as RunOrder;
const exported = Object.entries((await import(pathToFileURL(file).href)) as Record<string, unknown>);
const status = await (workflowOf(order) ?? (await graphOf(order)))();
process.stdout.write(`The run ended: ${status}.\n`);
// An application may keep its store or a server open: the run is over all the same.
process.exit(0);

/** Returns the run of the exported workflow that has the thread's name; undefined if there is none. */
function workflowOf({ thread, workflow }: RunOrder): (() => Promise<string>) | undefined {
  const found = exported.map(([, value]) => value).filter(isWorkflow);
  const chosen = found.find(({ name }) => name === workflow) ?? (workflow === null ? found[0] : undefined);
  return chosen && (async () => (await chosen.resume({ thread })).status ?? "done");
}

/** Returns the run of the exported graph of LangGraph that has the nodes which run next. */
async function graphOf({ thread, next, answers }: RunOrder): Promise<() => Promise<string>> {
  const graphs = exported.filter((entry): entry is [string, Graph] => isGraph(entry[1]));
  const fitting: Graph[] = [];
  for (const [, graph] of graphs) {
    const { nodes } = await graph.getGraphAsync();
    if (next.every((node) => Object.hasOwn(nodes, node))) fitting.push(graph);
  }
  const [chosen] = fitting;
  if (chosen === undefined || fitting.length > 1) fail(graphs.map(([name]) => name));
  return async () => {
    const result = await chosen.invoke(inputOf(answers), { configurable: { thread_id: thread } });
    return isWaiting(result) ? "interrupted" : "done";
  };
}

/** Returns the input that resumes a graph: null goes on, and a command brings the answers, by the names of their questions. */
function inputOf(answers: RunOrder["answers"]): unknown {
  const given = Object.entries(answers).map(([id, value]) => [id, fromTagged(value)] as const);
  const [first] = given;
  if (first === undefined) return null;
  // LangGraph knows its commands by this name, so that the application's copy of the library need not be found.
  return { lg_name: "Command", resume: isQuestionName(first[0]) ? Object.fromEntries(given) : first[1] };
}

function isWaiting(result: unknown): boolean {
  return result !== null && typeof result === "object" && Object.hasOwn(result, "__interrupt__");
}

function fail(graphs: readonly string[]): never {
  const names = [...exported.flatMap(([, value]) => (isWorkflow(value) ? [value.name] : [])), ...graphs].join(", ");
  const wanted =
    order.workflow === null ? `one graph with ${order.next.join(", ")}` : `workflow ${JSON.stringify(order.workflow)}`;
  process.stderr.write(`The application exports no ${wanted}${names === "" ? "." : `, but ${names}.`}\n`);
  process.exit(1);
}

function isWorkflow(value: unknown): value is Workflow {
  return hasMethod(value, "resume") && typeof (value as Partial<Workflow>).name === "string";
}

function isGraph(value: unknown): value is Graph {
  return hasMethod(value, "getGraphAsync") && hasMethod(value, "invoke");
}

function hasMethod(value: unknown, name: string): boolean {
  return value !== null && typeof value === "object" && typeof (value as Record<string, unknown>)[name] === "function";
}
