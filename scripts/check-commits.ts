import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Fails when the subject of a commit is longer than 72 characters, does not begin with a verb in the imperative, or ends with a full
 * stop. CONTRIBUTING.md has the rule with examples.
 */

/** Commits made before the rule are exempt. */
const since = "2026-11-17T08:03:46Z";
const most = 72;

/** A conventional prefix, such as `fix(postgres): `, is allowed in front of the verb. */
const prefix = /^[a-z]+(?:\([\w/.-]+\))?!?: /;
const indicative = /^(?:\w+(?:ed|ing)|\w*[^us\W]s|\w+(?:ches|shes|sses|xes))$/i;
/** Verbs whose imperative looks like another form. */
const imperatives = new Set([
  "alias",
  "bias",
  "bring",
  "embed",
  "exceed",
  "feed",
  "need",
  "proceed",
  "ring",
  "seed",
  "shed",
  "spring",
  "speed",
  "string",
  "swing",
]);

/** Returns the faults of a commit's subject, in words. */
export function subjectFaults(subject: string): string[] {
  const faults: string[] = [];
  if (subject.length > most) faults.push(`${subject.length} characters, ${most} are allowed`);
  if (subject.endsWith(".")) faults.push("ends with a full stop");
  const [verb = ""] = subject.replace(prefix, "").split(/[\s,:;]/, 1);
  if (!/^[a-z][a-z-]+$/i.test(verb)) faults.push("does not begin with a verb");
  else if (indicative.test(verb) && !imperatives.has(verb.toLowerCase()))
    faults.push(`begins with "${verb}", not with a verb in the imperative`);
  return faults;
}

/** Returns the hash and subject of each commit that the rule applies to; undefined where there is no git history. */
function commits(folder: string): { readonly hash: string; readonly subject: string }[] | undefined {
  const command = ["log", "--no-merges", `--since=${since}`, "--format=%h %s"];
  try {
    const log = execFileSync("git", command, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return log.split("\n").flatMap((line) => {
      const [, hash, subject] = /^(\w+) (.*)$/.exec(line) ?? [];
      return hash === undefined || subject === undefined ? [] : [{ hash, subject }];
    });
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const found = commits(fileURLToPath(new URL("..", import.meta.url)));
  const faulty = (found ?? []).flatMap(({ hash, subject }) =>
    subjectFaults(subject).map((fault) => `${hash} ${subject}: ${fault}`),
  );
  for (const fault of faulty) console.error(fault);
  console.log(found ? `${found.length} commits, ${faulty.length} faults` : "no git history here, nothing to check");
  process.exitCode = faulty.length > 0 ? 1 : 0;
}
