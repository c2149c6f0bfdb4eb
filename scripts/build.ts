import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { bundlePage } from "./bundle-page.ts";
import { buildForTheWeb } from "./web-build.ts";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

/** The modules behind the package's exports, its command and the demo's processes. */
const entries = [
  "index",
  "backends/sqlite/index",
  "backends/postgres/index",
  "backends/redis/index",
  "backends/file/index",
  "runtime/index",
  "runtime/testing/index",
  "langgraph/index",
  "otel/index",
  "large-values/index",
  "testing/index",
  "cli/main",
  "demo/worker",
  "inspector/app/describe",
  "inspector/app/runner",
];

/** Modules that find files beside themselves keep their folder; all other shared modules go into `shared`. */
const folders: { readonly [chunk: string]: string } = {
  program: "cli",
  processes: "demo",
  assets: "inspector/http",
  runs: "inspector/app",
};

// A file that left src must not stay behind in the package.
rmSync("dist", { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);

/** Returns a pattern for modules of src. A name that ends with a slash is a whole folder. */
const modules = (...names: readonly string[]): RegExp =>
  new RegExp(`/src/(?:${names.map((name) => (name.endsWith("/") ? `${name}.*` : name)).join("|")})\\.ts$`);

/**
 * The modules that nearly every store needs are a single file. Sealing and changes of existing rows are a second,
 * upkeep of whole stores a third, encryption a fourth: few short processes need those, and a process parses all of a file that it loads.
 */
const groups = [
  {
    name: "changes",
    test: modules(
      "engine/removal/(?!erasing/).*",
      "engine/changes/(?:delete-thread|empty-thread|end-tape|fork|label|mark|put/replace)",
      "engine/commits/(?:seal|sealer|collect-values)",
      "engine/records/pack/encode",
      "engine/bodies/frame-reader",
      "engine/view/lineage/tape-records",
      "engine/reads/finding/",
      "engine/reads/(?:directory|list-threads|sizes|thread-info|thread-summary)",
      "codec/delta/(?:join/(?:compose|net|sequence)|sealed/seal)",
      "model/(?:changes|retention/retention)",
    ),
    priority: 1,
  },
  {
    name: "upkeep",
    test: modules(
      "engine/(?:upkeep|bundles|removal/erasing)/",
      "engine/stats",
      "model/small-store",
      "api/backup-file",
      "engine/commits/batch/batch-records",
      "engine/records/check-body",
      "engine/bodies/replay",
      "engine/view/lineage/unchanged-since",
      "codec/(?:bundle|erase|delta/validate)",
    ),
    priority: 1,
  },
  { name: "encryption", test: modules("engine/encryption/"), priority: 1 },
  {
    name: "core",
    test: modules("(?:engine|codec|model|platform|api)/", "backends/(?:sqlite|shared)/", "backend", "errors"),
  },
];

// A few files instead of two hundred: importing the package is most of the work of a short process.
const bundle = await rolldown({
  input: Object.fromEntries(
    [...entries, "cli/program", "demo/processes", "inspector/http/assets", "inspector/app/runs"].map((name) => [
      name,
      `src/${name}.ts`,
    ]),
  ),
  external: (id) => !/^[./]/.test(id),
  platform: "node",
  // Entries may share the modules of a group; each entry still exports exactly what its module does.
  preserveEntrySignatures: "allow-extension",
});
const { output } = await bundle.write({
  dir: "dist",
  format: "esm",
  sourcemap: true,
  // Comments are in the declarations and the source maps. Here they would only cost parsing, and not all of them are
  // ASCII.
  comments: { legal: true, annotation: true, jsdoc: false },
  // Short names for local variables: a sixth less to parse. Names in stack traces stay.
  minify: { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: false } },
  codeSplitting: { groups, includeDependenciesRecursively: false },
  entryFileNames: "[name].js",
  chunkFileNames: ({ name }) => `${folders[name] ?? "shared"}/[name]-[hash].js`,
});

for (const file of output) {
  if (file.type !== "chunk" || file.name !== "core") continue;
  // Invariant: no module of the core imports a module of another group, which would load that whole group.
  if (file.imports.length > 0)
    throw new Error(`Importing the core also loads ${file.imports.join(", ")}. See the groups above.`);
  // A single character beyond Latin-1 makes the whole file twice as large to parse.
  const beyond = /[\u0100-\uffff].*/.exec(file.code);
  if (beyond) throw new Error(`The core has a character that makes it slower to import: ${beyond[0].slice(0, 80)}`);
}

await buildForTheWeb({ index: "src/index.ts", "runtime/index": "src/runtime/index.ts" }, "dist/web");

mkdirSync("dist/inspector/page", { recursive: true });
for (const [name, text] of await bundlePage()) writeFileSync(`dist/inspector/page/${name}`, text);
// npm makes the command executable when it installs it; a link to this checkout needs it too.
chmodSync("dist/cli/main.js", 0o755);
