import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Runs the demo and lists the threads it left behind, and draws the terminal's output, with its timing, as an animated
 * picture: docs/images/demo.svg.
 */
const program = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const picture = fileURLToPath(new URL("../docs/images/demo.svg", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "threadmark-recording-"));

interface Line {
  /** Seconds since the recording began. */
  readonly at: number;
  /** The text, with the escape sequences of its colours. */
  readonly text: string;
}

/** The style class of each escape sequence that the command line uses; sequences that end a style have none. */
const classOf: Readonly<Record<string, string>> = { 1: "bold", 2: "dim", 32: "green", 33: "yellow" };

/** Seconds to type a command, to read an answer, and to rest before the picture begins again. */
const TYPING = 0.9;
const READING = 1.5;
const REST = 8;

let now = 0;
const lines: Line[] = [];
for (const parameters of [
  ["demo", "--no-serve"],
  ["threads", "sqlite:threadmark-demo/agent.db"],
]) {
  now += lines.length === 0 ? 0.3 : READING;
  lines.push({ at: now, text: `\u001b[32m$\u001b[39m npx threadmark ${parameters.join(" ")}` });
  now += TYPING;
  for (const { at, text } of await record(parameters)) lines.push({ at: now + at, text });
  now = Math.max(now, lines.at(-1)?.at ?? 0);
  lines.push({ at: now, text: "" });
}
lines.pop();
writeFileSync(picture, drawn(lines, now + REST));
rmSync(folder, { recursive: true, force: true });

function record(parameters: readonly string[]): Promise<Line[]> {
  const recorded: Line[] = [];
  const started = performance.now();
  const child = spawn(process.execPath, [program, ...parameters], {
    cwd: folder,
    env: { ...process.env, FORCE_COLOR: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const whole = (rest + chunk.toString()).split("\n");
    rest = whole.pop() ?? "";
    for (const text of whole) recorded.push({ at: (performance.now() - started) / 1_000, text });
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(recorded);
      else reject(new Error(`threadmark ${parameters.join(" ")} ended with ${code}`));
    });
  });
}

/** Draws a dark terminal whose lines appear in sequence, in a loop. */
function drawn(shown: readonly Line[], seconds: number): string {
  const [advance, leading, margin, bar] = [7.83, 19, 16, 30];
  const columns = Math.max(...shown.map(({ text }) => plain(text).length));
  const [width, height] = [Math.ceil(columns * advance) + 2 * margin, shown.length * leading + 2 * margin + bar];
  const styles = shown.map(({ at }, index) => {
    const share = ((100 * at) / seconds).toFixed(2);
    return `@keyframes l${index}{0%,${share}%{opacity:0}${share}1%,100%{opacity:1}}.l${index}{animation:l${index} ${seconds.toFixed(1)}s infinite}`;
  });
  const texts = shown.map(({ text }, index) => {
    const y = bar + margin + (index + 0.75) * leading;
    return `<text class="l${index}" x="${margin}" y="${y.toFixed(1)}" xml:space="preserve">${spans(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>A terminal: npx threadmark demo kills an agent, resumes it, answers its question and forks it</title>
<style>text{font:13px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#d7dae0}.bold{font-weight:700;fill:#fff}.dim{fill:#8b93a1}.green{fill:#7cc48c}.yellow{fill:#e0b04c}
${styles.join("\n")}
@media (prefers-reduced-motion:reduce){text{animation:none!important}}</style>
<rect width="${width}" height="${height}" rx="8" fill="#16181b"/>
<circle cx="20" cy="16" r="5" fill="#f08079"/><circle cx="38" cy="16" r="5" fill="#e0b04c"/><circle cx="56" cy="16" r="5" fill="#7cc48c"/>
${texts.join("\n")}
</svg>
`;
}

function spans(text: string): string {
  const escape = String.fromCharCode(27);
  return text
    .split(escape)
    .map((part, index) => {
      const [, code = "", content = part] = (index > 0 && /^\[(\d+)m([\s\S]*)$/.exec(part)) || [];
      const name = classOf[code];
      if (content === "") return "";
      return name === undefined ? escaped(content) : `<tspan class="${name}">${escaped(content)}</tspan>`;
    })
    .join("");
}

function plain(text: string): string {
  return text
    .split(String.fromCharCode(27))
    .map((part, index) => (index > 0 ? part.replace(/^\[\d+m/, "") : part))
    .join("");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
