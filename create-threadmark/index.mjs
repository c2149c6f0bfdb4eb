#!/usr/bin/env node
// Makes a small project of one of the examples: npm create threadmark my-agent -- --template chat-server
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const packed = fileURLToPath(new URL("templates", import.meta.url));
const examples = fileURLToPath(new URL("../examples", import.meta.url));
const source = existsSync(packed) ? packed : examples;

/** The examples that are projects: folders with a package.json. */
const templates = readdirSync(source).filter((name) => existsSync(join(source, name, "package.json")));
const usage = `npm create threadmark <folder> -- --template <${templates.join(" | ")}>`;

function fail(message) {
  process.stderr.write(`create-threadmark: ${message}\n${usage}\n`);
  process.exit(2);
}

/** Returns the folder and the template that the parameters name. */
function asked() {
  const options = {
    template: { type: "string", default: "chat-server" },
    help: { type: "boolean", short: "h" },
    "pack-templates": { type: "boolean" },
  };
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    return {
      template: values.template,
      folder: positionals[0],
      packs: values["pack-templates"],
      help: values.help,
      extra: positionals[1],
    };
  } catch (error) {
    return fail(error.message);
  }
}

const { template, folder, packs, help, extra } = asked();
if (help) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
if (packs) {
  // Before the package is packed: the templates travel with it.
  rmSync(packed, { recursive: true, force: true });
  for (const name of templates) cpSync(join(examples, name), join(packed, name), { recursive: true });
  process.exit(0);
}
if (folder === undefined) fail("name the folder to make.");
if (extra !== undefined) fail(`one folder at a time: what is ${JSON.stringify(extra)}?`);
if (!templates.includes(template)) fail(`there is no template ${JSON.stringify(template)}.`);
const target = resolve(folder);
if (existsSync(target) && readdirSync(target).length > 0) fail(`${target} is not empty. Choose another folder.`);

mkdirSync(target, { recursive: true });
cpSync(join(source, template), target, { recursive: true });
const file = join(target, "package.json");
const manifest = JSON.parse(readFileSync(file, "utf8"));
const name = basename(target)
  .toLowerCase()
  .replaceAll(/[^a-z0-9-]+/g, "-")
  .replace(/^-+|-+$/g, "");
writeFileSync(file, `${JSON.stringify({ ...manifest, name: name || template }, undefined, 2)}\n`);
process.stdout.write(`${target} is made of ${template}. Next:\n  cd ${folder}\n  npm install\n  npm start\n`);
