import { pathToFileURL } from "node:url";
import type { GraphPicture } from "../../display/steps/topology.ts";
import { END, START } from "../../model/interface/topology.ts";

/**
 * The process that reads the pictures of an application's compiled LangGraph graphs, for `threadmark ui --app`. Prints them as a
 * line of JSON. Graphs of the runtime keep theirs with their threads.
 */

interface Drawable {
  readonly nodes: Readonly<Record<string, unknown>>;
  readonly edges: readonly { readonly source: string; readonly target: string; readonly conditional?: boolean }[];
}

const [file = ""] = process.argv.slice(2);
const exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
const pictures: GraphPicture[] = [];
for (const value of Object.values(exported)) {
  const graph = value as { getGraphAsync?: () => Promise<Drawable> } | null | undefined;
  if (typeof graph?.getGraphAsync !== "function") continue;
  const { nodes, edges } = await graph.getGraphAsync();
  pictures.push({
    nodes: Object.keys(nodes).filter((name) => name !== START && name !== END),
    edges: edges.map(({ source, target, conditional }) => ({
      from: source,
      to: target,
      sometimes: conditional === true,
    })),
  });
}
process.stdout.write(`\n${JSON.stringify(pictures)}\n`, () => process.exit(0));
