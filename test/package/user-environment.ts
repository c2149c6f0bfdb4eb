import { delimiter } from "node:path";

/** Folders that npm puts in front of the path of its scripts: node_modules/.bin, with the repository's own Node, among them. */
const added = /node_modules[\\/]\.bin[\\/]?$|node-gyp-bin/;

/** Returns the environment of a user's shell: the machine's own Node, and none of the settings npm gives its scripts. */
export function userEnvironment(): NodeJS.ProcessEnv {
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE$|INIT_CWD$)/.test(name)),
  );
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => !added.test(folder));
  return { ...environment, PATH: folders.join(delimiter) };
}
