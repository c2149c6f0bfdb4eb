import { words } from "./words.ts";
import type { Step, Workload } from "./workload.ts";

const files = 50;

/** A map of 50 files of 20 KB; a step edits one line of one. */
export const editedFiles: Workload = {
  name: "files",
  title: "50 files of 20 KB, one line of one edited a step",
  steps: 200,
  initial() {
    const text = words(1);
    const lines = (): string => Array.from({ length: 250 }, () => text(80)).join("\n");
    return {
      files: Object.fromEntries(Array.from({ length: files }, (_, index) => [`src/file-${index}.ts`, lines()])),
    };
  },
  step(state, index): Step {
    const edited = { ...(state["files"] as Record<string, string>) };
    const name = `src/file-${(index * 7) % files}.ts`;
    const lines = (edited[name] as string).split("\n");
    const line = words(index)(80);
    lines[(index * 13) % lines.length] = line;
    edited[name] = lines.join("\n");
    return {
      state: { files: edited },
      update: { set: { files: edited } },
      changed: JSON.stringify({ [name]: line }),
      returned: { files: { [name]: edited[name] } },
    };
  },
};
