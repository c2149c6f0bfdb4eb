import { pathToFileURL } from "node:url";

/**
 * The process in which `threadmark ui --app` runs a thread on: imports the application, finds its workflow, and resumes the
 * thread. The output is what the application prints, and a last line on how the run ended.
 */

interface Workflow {
  readonly name: string;
  resume(options: { readonly thread: string }): Promise<{ readonly status?: string }>;
}

const [file = "", thread = "", workflow = ""] = process.argv.slice(2);
const exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
const found = Object.values(exported).filter(isWorkflow);
const chosen = found.find(({ name }) => name === workflow) ?? (workflow === "" ? found[0] : undefined);
if (chosen === undefined) {
  const names = found.map(({ name }) => name).join(", ");
  process.stderr.write(
    `The application exports no workflow ${JSON.stringify(workflow)}${names === "" ? "." : `, but ${names}.`}\n`,
  );
  process.exit(1);
}
const { status } = await chosen.resume({ thread });
process.stdout.write(`The run ended: ${status ?? "done"}.\n`);
// An application may keep its store or a server open: the run is over all the same.
process.exit(0);

function isWorkflow(value: unknown): value is Workflow {
  return (
    value !== null &&
    typeof value === "object" &&
    typeof (value as Partial<Workflow>).resume === "function" &&
    typeof (value as Partial<Workflow>).name === "string"
  );
}
