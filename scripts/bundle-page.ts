import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const page = fileURLToPath(new URL("../src/inspector/page/", import.meta.url));

/** The licence of the library inside the script, whose minified code has no room for it. */
const PREACT = "/*! Preact, MIT License, Copyright (c) 2015-present Jason Miller */";

/**
 * Returns the files of the inspector's page by name: one script and one style sheet, named by their content so that browsers
 * may keep them, the document that names them, and the icon.
 */
export async function bundlePage(): Promise<ReadonlyMap<string, string>> {
  const bundle = await rolldown({
    input: `${page}main.tsx`,
    platform: "browser",
    transform: { target: "es2022" },
    tsconfig: `${page}tsconfig.json`,
    logLevel: "warn",
  });
  const { output } = await bundle.generate({ format: "esm", minify: true, codeSplitting: false });
  await bundle.close();
  const script = `${PREACT}\n${output[0].code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n")}`;
  const styles = readdirSync(`${page}style`)
    .filter((name) => name.endsWith(".css"))
    .sort();
  const style = smaller(styles.map((name) => readFileSync(`${page}style/${name}`, "utf8")).join("\n"));
  const [scriptName, styleName] = [`main-${hash(script)}.js`, `style-${hash(style)}.css`];
  const html = readFileSync(`${page}index.html`, "utf8")
    .replace("/main.js", `/${scriptName}`)
    .replace("/style.css", `/${styleName}`);
  return new Map([
    ["index.html", html],
    [scriptName, script],
    [styleName, style],
    ["icon.svg", readFileSync(`${page}icon.svg`, "utf8")],
  ]);
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 12).replaceAll(/[-_]/g, "0");
}

/** Leaves comments and indentation out of a style sheet. */
function smaller(css: string): string {
  return css
    .replaceAll(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .replaceAll(/\s*([{};,])\s*/g, "$1")
    .trim();
}
