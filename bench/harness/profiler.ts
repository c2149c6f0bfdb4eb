import { type Profiler, type Runtime, Session } from "node:inspector/promises";

/** How often is looked at what is running, in µs. */
const interval = 250;

export const layers = [
  "waiting",
  "SQLite",
  "pg",
  "backend",
  "engine",
  "codec",
  "saver",
  "interface",
  "memory",
  "Node",
] as const;
export type Layer = (typeof layers)[number];

/** Where the time of a call goes, in µs. */
export interface Profile {
  readonly call: number;
  readonly layers: Readonly<Record<Layer, number>>;
}

/** Calls something so many times under the sampling profiler. `prepare` comes before each call, and does not count. */
export async function profiled(
  times: number,
  call: () => Promise<unknown>,
  prepare: () => unknown = () => undefined,
): Promise<Profile> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval });
  await session.post("Profiler.start");
  let milliseconds = 0;
  for (let count = 0; count < times; count += 1) {
    prepare();
    const start = performance.now();
    await call();
    milliseconds += performance.now() - start;
  }
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  return { call: (milliseconds * 1_000) / times, layers: byLayer(profile, times) };
}

function byLayer({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, times: number): Record<Layer, number> {
  const parents = new Map<Profiler.ProfileNode, Profiler.ProfileNode>();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const node of nodes)
    for (const child of node.children ?? []) parents.set(byId.get(child) as Profiler.ProfileNode, node);
  const spent = Object.fromEntries(layers.map((layer) => [layer, 0])) as Record<Layer, number>;
  for (const [index, id] of samples.entries()) {
    const stack: Runtime.CallFrame[] = [];
    for (let node = byId.get(id); node; node = parents.get(node)) stack.push(node.callFrame);
    const layer = layerOf(stack);
    if (layer) spent[layer] += (timeDeltas[index] ?? 0) / times;
  }
  return spent;
}

const places: readonly (readonly [string, Layer])[] = [
  ["/src/codec/", "codec"],
  ["/src/engine/", "engine"],
  ["/src/backends/", "backend"],
  ["/src/langgraph/", "saver"],
  ["/src/", "interface"],
  ["/node_modules/pg", "pg"],
];

const statements = new Set(["run", "get", "all", "exec", "prepare", "DatabaseSync", "close"]);

/**
 * Returns the layer at work by the stack, innermost first; undefined for the benchmark itself. A frame without a file
 * counts as its caller's.
 */
function layerOf(stack: readonly Runtime.CallFrame[]): Layer | undefined {
  const [top] = stack;
  if (top?.functionName === "(idle)") return "waiting";
  if (top?.functionName === "(garbage collector)") return "memory";
  if (stack.some(({ functionName, url }) => functionName === "prepare" && url.includes("/bench/"))) return undefined;
  for (const { url } of stack) {
    if (url.includes("/src/backends/sqlite/") && top?.url === "" && statements.has(top.functionName)) return "SQLite";
    const [, layer] = places.find(([place]) => url.includes(place)) ?? [];
    if (layer) return layer;
    if (url.includes("/bench/")) return undefined;
  }
  return top?.functionName === "(program)" || stack.length > 2 ? "Node" : undefined;
}
