import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

// A file that left src must not stay behind in the package.
rmSync("dist", { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);

// The inspector's page is served as it is: tsc does not carry it over.
if (existsSync("src/inspector/page")) cpSync("src/inspector/page", "dist/inspector/page", { recursive: true });
// npm makes the command executable when it installs it; a link to this checkout needs it too.
if (existsSync("dist/cli/main.js")) chmodSync("dist/cli/main.js", 0o755);
