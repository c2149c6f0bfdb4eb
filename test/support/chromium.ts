import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const CHROMIUM = "/usr/bin/chromium";
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Debian's Chromium, installed if it is missing. */
export async function launchBrowser(...more: readonly string[]): Promise<Browser> {
  if (!existsSync(CHROMIUM)) {
    try {
      execFileSync("apt-get", ["update", "-q"], { stdio: "pipe" });
      execFileSync("apt-get", ["install", "-y", "-q", "chromium"], {
        stdio: "pipe",
        env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      });
    } catch (cause) {
      throw new Error(`${CHROMIUM} is missing and cannot be installed with apt-get: the page cannot be tested.`, {
        cause,
      });
    }
  }
  return chromium.launch({ executablePath: CHROMIUM, args: [...flags, ...more] });
}
