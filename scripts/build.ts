import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

/** What the package's exports, its command and the demo's processes start from. */
const entries = [
  "index",
  "backends/sqlite/index",
  "backends/postgres/index",
  "backends/file/index",
  "runtime/index",
  "langgraph/index",
  "testing/index",
  "cli/main",
  "demo/worker",
];

/** Modules that find files beside themselves keep their folder; what else entries share goes into one. */
const folders: { readonly [chunk: string]: string } = { program: "cli", processes: "demo", assets: "inspector" };

// A file that left src must not stay behind in the package.
rmSync("dist", { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);

// A few files instead of two hundred: importing the package is most of what a short process does.
const bundle = await rolldown({
  input: Object.fromEntries(
    [...entries, "cli/program", "demo/processes", "inspector/assets"].map((name) => [name, `src/${name}.ts`]),
  ),
  external: (id) => !/^[./]/.test(id),
  platform: "node",
});
await bundle.write({
  dir: "dist",
  format: "esm",
  sourcemap: true,
  entryFileNames: "[name].js",
  chunkFileNames: ({ name }) => `${folders[name] ?? "shared"}/[name]-[hash].js`,
});

// The inspector's page is served as it is.
cpSync("src/inspector/page", "dist/inspector/page", { recursive: true });
// npm makes the command executable when it installs it; a link to this checkout needs it too.
chmodSync("dist/cli/main.js", 0o755);
