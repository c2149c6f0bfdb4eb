import { spawn } from "node:child_process";

/** The program that opens an address, by platform; `$BROWSER` goes before it. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens an address in the person's browser. Resolves to false if no program for that can be started. */
export async function openInBrowser(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const [program, ...parameters] = env["BROWSER"] ? [env["BROWSER"]] : (openers[process.platform] ?? ["xdg-open"]);
  return new Promise((resolve) => {
    // No shell: the address is an operand, whatever is in it.
    const child = spawn(program, [...parameters, address], { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
