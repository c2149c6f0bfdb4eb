import { readFileSync } from "node:fs";

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

/**
 * Returns the versions of LangGraph's packages that the repository is tested with, dependencies of dependencies included: what
 * is installed beside the packed package then does not change with the day.
 */
export function lockedLangChain(): Record<string, string> {
  const { packages } = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")) as Lock;
  const top = "node_modules/";
  return Object.fromEntries(
    Object.entries(packages)
      .filter(([path]) => path.startsWith(`${top}@langchain/`) && path.lastIndexOf(top) === 0)
      .map(([path, { version = "" }]) => [path.slice(top.length), version]),
  );
}
