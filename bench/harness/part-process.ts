import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Place } from "../environment/place.ts";
import { parts } from "../parts/index.ts";
import { type Findings, Report, type Target } from "./report.ts";

/** A message of a part's process: its findings, or a request for a Postgres server, which is answered with a url. */
type Message = { readonly findings: Findings } | "server?";

/**
 * A part in a process of its own: what it measures then does not depend on what the others have left in the heap, or on what
 * the compiler has learned of their calls.
 */
export function runPart(name: string, quick: boolean, server: () => Promise<string>): Promise<Findings> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [name, String(quick)]);
    let findings: Findings | undefined;
    child.on("message", (message: Message) => {
      if (message !== "server?") findings = message.findings;
      else server().then((url) => child.send(url), reject);
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (!findings) console.error(`The process of ${name} ended with ${code}.`);
      resolve(findings ?? { tables: [], points: [], targets: [failureOf(name)] });
    });
  });
}

/** The other parts' findings are kept; what could not be measured is not met. */
function failureOf(part: string): Target {
  return { part, name: `${part}: failures`, value: 1, limit: 0, unit: "count" };
}

function askForServer(): Promise<string> {
  return new Promise((resolve) => {
    process.once("message", (url: string) => resolve(url));
    process.send?.("server?");
  });
}

/** Runs a part in this process: in a short run, starting processes and compiling again would take half the time. */
export async function runHere(name: string, quick: boolean, server: () => Promise<string>): Promise<Findings> {
  const part = parts.find((one) => one.name === name);
  if (!part) throw new Error(`There is no part "${name}".`);
  const place = new Place(server);
  const report = new Report(part.name, part.title);
  try {
    await part.run({ place, report, quick });
    return report.findings;
  } catch (error) {
    console.error(error);
    return { ...report.findings, targets: [...report.findings.targets, failureOf(name)] };
  } finally {
    await place.remove();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = "", quick] = process.argv.slice(2);
  let url: Promise<string> | undefined;
  const findings = await runHere(name, quick === "true", () => {
    url ??= askForServer();
    return url;
  });
  process.send?.({ findings }, () => process.exit());
}
