import { expect, test } from "vitest";
import { type Layers, layerFaults } from "../../../scripts/layers.ts";

const layers: Layers = {
  rooms: { errors: "", model: "", "engine/low": "", "engine/high": "", engine: "", runtime: "", cli: "" },
  mayImport: { model: ["errors"], "engine/low": ["model"], runtime: ["engine"], cli: ["runtime"] },
  inOrder: ["engine/low", "engine/high", "engine"],
  entries: { runtime: ["runtime/index"] },
};

function faultsOf(modules: Readonly<Record<string, string>>): string[] {
  return layerFaults(layers, new Map(Object.entries(modules)));
}

test("imports within a room, from an allowed room and from an earlier room of the order are no faults", () => {
  const faults = faultsOf({
    "src/errors.ts": "",
    "src/model/id.ts": 'import { fault } from "../errors.ts";',
    "src/engine/low/row.ts": 'import type { Id } from "../../model/id.ts";',
    "src/engine/high/commit.ts": 'import { row } from "../low/row.ts";\nimport { id } from "../../model/id.ts";',
    "src/engine/engine.ts": 'import { commit } from "./high/commit.ts";',
    "src/runtime/run.ts": 'import { commit } from "../engine/high/commit.ts";',
    "src/runtime/index.ts": 'export { run } from "./run.ts";',
    "src/cli/main.ts": 'const { run } = await import("../runtime/index.ts");',
  });
  expect(faults).toEqual([]);
});

test("an import against the order of rooms is a fault, also of a type and in a dynamic import", () => {
  for (const text of [
    'import { commit } from "../high/commit.ts";',
    'import type { Commit } from "../high/commit.ts";',
    'export * from "../high/commit.ts";',
    'const later = await import("../high/commit.ts");',
  ]) {
    const faults = faultsOf({ "src/engine/low/row.ts": text, "src/engine/high/commit.ts": "" });
    expect(faults).toEqual(["src/engine/low/row.ts (engine/low) may not import src/engine/high/commit.ts"]);
  }
});

test("an import from a room that is not on the list is a fault", () => {
  const faults = faultsOf({ "src/cli/main.ts": 'import { id } from "../model/id.ts";', "src/model/id.ts": "" });
  expect(faults).toEqual(["src/cli/main.ts (cli) may not import src/model/id.ts"]);
});

test("an import past the entries of a room is a fault", () => {
  const faults = faultsOf({ "src/cli/main.ts": 'import { run } from "../runtime/run.ts";', "src/runtime/run.ts": "" });
  expect(faults).toEqual(["src/cli/main.ts (cli) may import runtime only through runtime/index"]);
});

test("the rooms inside a room with entries are closed to other rooms, and open to each other", () => {
  const inner = { ...layers, rooms: { ...layers.rooms, "runtime/run": "", "runtime/work": "" } };
  const modules = {
    "src/runtime/run/task.ts": "",
    "src/runtime/work/worker.ts": 'import { task } from "../run/task.ts";',
    "src/cli/main.ts": 'import { task } from "../runtime/run/task.ts";',
  };
  const allowed = { ...inner, mayImport: { ...layers.mayImport, "runtime/work": ["runtime/run"] } };
  const faults = layerFaults(allowed, new Map(Object.entries(modules)));
  expect(faults).toEqual(["src/cli/main.ts (cli) may import runtime only through runtime/index"]);
});

test("a circle of imports is a fault, also within a room", () => {
  const faults = faultsOf({
    "src/model/a.ts": 'import { b } from "./b.ts";',
    "src/model/b.ts": 'import type { C } from "./c.ts";',
    "src/model/c.ts": 'import { a } from "./a.ts";',
  });
  expect(faults).toEqual(["a circle of imports: src/model/a.ts -> src/model/b.ts -> src/model/c.ts -> src/model/a.ts"]);
});

test("a module of a folder that is in no room is a fault, and so is an import of it", () => {
  const faults = faultsOf({ "src/helpers/text.ts": "", "src/cli/main.ts": 'import { t } from "../helpers/text.ts";' });
  expect(faults).toEqual([
    "src/helpers/text.ts is in no room of layers.json",
    "src/cli/main.ts (cli) may not import src/helpers/text.ts",
  ]);
});

test("an import that only a comment mentions is no fault", () => {
  const faults = faultsOf({ "src/errors.ts": '/**\n * import { run } from "./runtime/run.ts";\n */' });
  expect(faults).toEqual([]);
});
