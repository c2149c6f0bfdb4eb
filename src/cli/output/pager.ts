import { spawn } from "node:child_process";

/**
 * Shows a text in the person's pager: `$THREADMARK_PAGER`, `$PAGER`, or `less`. An empty name or `cat` means none. Resolves to
 * false if there is no pager or it cannot be run.
 */
export async function pageThrough(env: Readonly<Record<string, string | undefined>>, text: string): Promise<boolean> {
  const pager = env["THREADMARK_PAGER"] ?? env["PAGER"] ?? "less";
  if (pager === "" || pager === "cat") return false;
  return new Promise((resolve) => {
    // F: end at once where the text fits. R: show colours. X: leave the text on the screen.
    const child = spawn(pager, {
      shell: true,
      stdio: ["pipe", "inherit", "inherit"],
      env: { ...process.env, LESS: env["LESS"] ?? "FRX" },
    });
    child.once("error", () => resolve(false));
    // A shell answers 127 for a program it does not find.
    child.once("close", (code) => resolve(code !== 127));
    // The person may leave the pager before the end.
    child.stdin.on("error", () => {});
    child.stdin.end(text);
  });
}
