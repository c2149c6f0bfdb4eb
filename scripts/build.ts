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

/**
 * What nearly every store needs in one file; what few short processes do in others: sealing and changes of what is there already,
 * and what looks after whole stores. Each file takes its time to find, and all that is in it to parse.
 */
const groups = [
  {
    name: "changes",
    test: /\/src\/(?:engine\/(?:closing|delete|doomed|encode-pack|fork|frames|glance|id-index|measure|prune|push-all|rebase|remove|reparent|replace|rewrite|seal|thread-list|threads|writes-removal)|codec\/delta\/(?:compose|net|seal|sequence)|model\/(?:changes|retention))\.ts$/,
    priority: 1,
  },
  {
    name: "upkeep",
    test: /\/src\/(?:engine\/(?:batch-records|bundled-thread|check-body|compact|export|fold|import|replay|same-thread|seen-writes|settle|shared-numbers|standing|stats|verify|verify-rows)|codec\/(?:bundle|delta\/validate))\.ts$/,
    priority: 1,
  },
  {
    name: "core",
    test: /\/src\/(?:(?:engine|codec|model|backends\/sqlite)\/.*|backends\/(?:covers|file-mode)|open|store|thread|lease|backend|errors|builtin)\.ts$/,
  },
];

// A few files instead of two hundred: importing the package is most of what a short process does.
const bundle = await rolldown({
  input: Object.fromEntries(
    [...entries, "cli/program", "demo/processes", "inspector/assets"].map((name) => [name, `src/${name}.ts`]),
  ),
  external: (id) => !/^[./]/.test(id),
  platform: "node",
  // Modules of a group may be shared by entries; what an entry exports stays what its module does.
  preserveEntrySignatures: "allow-extension",
});
const { output } = await bundle.write({
  dir: "dist",
  format: "esm",
  sourcemap: true,
  // They are in the declarations and the source maps; here they would only be read past, and not all of them are ASCII.
  comments: { legal: true, annotation: true, jsdoc: false },
  // Short names for what is local to a function: a sixth less to parse. What stack traces show stays as it is.
  minify: { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: false } },
  codeSplitting: { groups, includeDependenciesRecursively: false },
  entryFileNames: "[name].js",
  chunkFileNames: ({ name }) => `${folders[name] ?? "shared"}/[name]-[hash].js`,
});

for (const file of output) {
  if (file.type !== "chunk" || file.name !== "core") continue;
  // A module of the core that imports one of the other groups takes all of that along.
  if (file.imports.length > 0)
    throw new Error(`Importing the core also loads ${file.imports.join(", ")}. See the groups above.`);
  // One character beyond Latin-1 makes all of it twice as large to parse.
  const beyond = /[\u0100-\uffff].*/.exec(file.code);
  if (beyond) throw new Error(`The core has a character that makes it slower to import: ${beyond[0].slice(0, 80)}`);
}

// The inspector's page is served as it is.
cpSync("src/inspector/page", "dist/inspector/page", { recursive: true });
// npm makes the command executable when it installs it; a link to this checkout needs it too.
chmodSync("dist/cli/main.js", 0o755);
