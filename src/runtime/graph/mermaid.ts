import { successors } from "./check.ts";
import { type Definition, isNested } from "./definition.ts";
import { END, START } from "./goto.ts";

/** Returns the graph as Mermaid text. Solid lines are edges and joins, dotted lines are branches and declared gotos. */
export function mermaid(definition: Definition): string {
  return ["flowchart TD", ...body(definition, "", "  ")].join("\n");
}

function body(definition: Definition, prefix: string, indent: string): string[] {
  const names = [START, ...definition.nodes.keys(), END];
  // Node names are free text, and Mermaid ids are not: nodes are numbered.
  const id = (name: string): string => `${prefix}n${names.indexOf(name)}`;
  const lines: string[] = [`${indent}${id(START)}(["start"])`];
  for (const { name, work } of definition.nodes.values()) {
    if (isNested(work)) {
      const inner = body(work.definition, `${id(name)}_`, `${indent}  `);
      lines.push(`${indent}subgraph ${id(name)}["${label(name)}"]`, ...inner, `${indent}end`);
    } else {
      lines.push(`${indent}${id(name)}["${label(name)}"]`);
    }
  }
  lines.push(`${indent}${id(END)}(["end"])`);
  const solid = new Set<string>();
  const line = (from: string, arrow: string, to: string): void => {
    const text = `${indent}${id(from)} ${arrow} ${id(to)}`;
    if (!lines.includes(text)) lines.push(text);
  };
  for (const [from, targets] of definition.edges) {
    for (const to of targets) {
      solid.add(`${from}\0${to}`);
      line(from, "-->", to);
    }
  }
  for (const { sources, target } of definition.joins) {
    for (const from of sources) {
      solid.add(`${from}\0${target}`);
      line(from, "-->|join|", target);
    }
  }
  for (const [from, targets] of successors(definition)) {
    for (const to of targets) if (!solid.has(`${from}\0${to}`)) line(from, "-.->", to);
  }
  return lines;
}

function label(name: string): string {
  return name.replace(/[&<>"#;\n\r]/g, (character) => `#${character.codePointAt(0)};`);
}
