import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderForEach } from "../support/folders-of-tests.ts";
import { root } from "./run.ts";

const path = folderForEach();

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const architecture = read("ARCHITECTURE.md");
const { rooms } = JSON.parse(read("layers.json")) as { readonly rooms: Readonly<Record<string, string>> };
const pages = [
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  ...globSync("docs/explanation/decisions/*.md", { cwd: root }).sort(),
];

/** Returns the files that a text names in backticks: anything that ends like a source, a page or a setting of the repository. */
function filesIn(text: string): string[] {
  const names = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\.(?:ts|mjs|js|json))`/g)];
  return names.map(([, name]) => name as string);
}

/** Returns the text of each section of a level, by its title. */
function sectionsOf(text: string, level: string): ReadonlyMap<string, string> {
  const [, ...sections] = text.split(new RegExp(`^${level} `, "m"));
  return new Map(sections.map((section) => [section.slice(0, section.indexOf("\n")), section]));
}

test("ARCHITECTURE.md has every room of layers.json, in its order and with its purpose", () => {
  const tree = sectionsOf(architecture, "##").get("The tree") ?? "";
  const described = [...tree.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, room, purpose]) => [room, purpose]);
  expect(described).toEqual(Object.entries(rooms));
});

const titles = ["A put", "A cold `latest`", "A fork", "A prune"];

/** Returns the stations of a flow, without the text after the last. */
function stationsOf(title: string): readonly string[] {
  const flow = sectionsOf(sectionsOf(architecture, "##").get("Four flows") ?? "", "###").get(title) ?? "";
  const stations = flow.split(/^(?=\d+\. )/m).slice(1);
  return stations.map((station) => station.split("\n\n")[0] as string);
}

test.each(titles)("ARCHITECTURE.md tells the flow of %j in at most twelve stations, each with its file", (title) => {
  const stations = stationsOf(title);
  const numbers = stations.map((station) => Number.parseInt(station, 10));
  expect(numbers).toEqual(stations.map((_, index) => index + 1));
  expect(stations.length).toBeGreaterThan(2);
  expect(stations.length).toBeLessThanOrEqual(12);
  expect(stations.filter((station) => filesIn(station).length === 0)).toEqual([]);
});

test("every file at a station of the four flows is entered by that flow", () => {
  const program = join(root, "test/docs/entered-files.ts");
  const printed = execFileSync(process.execPath, [program, path("agent.db")], { encoding: "utf8" });
  const entered = JSON.parse(printed) as Readonly<Record<string, readonly string[]>>;
  for (const title of titles) {
    const named = stationsOf(title).flatMap(filesIn);
    expect({ title, missed: named.filter((file) => !entered[title]?.includes(file)) }).toEqual({ title, missed: [] });
  }
});

test.each(pages)("every file that %s names exists", (page) => {
  const missing = filesIn(read(page)).filter(
    (name) => !["", "src"].some((folder) => existsSync(join(root, folder, name))),
  );
  expect(missing).toEqual([]);
});
