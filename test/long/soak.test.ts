import { describe, expect, test } from "vitest";
import { locations } from "../support/places.ts";
import { soak, type Tally } from "./soak/rounds.ts";

/** Minutes on each backend. */
const minutes = Number(process.env.THREADMARK_SOAK ?? "0.5");
if (!(minutes > 0))
  throw new TypeError(`THREADMARK_SOAK must be a number of minutes, not ${process.env.THREADMARK_SOAK}.`);

const durable = locations.filter(({ capabilities }) => capabilities.durable);

/** The counts in one line: what the campaign did, then the operations by kind, then the failures by kind and code. */
function text(tally: Tally): string {
  const isFailure = (what: string): boolean => what.includes(":");
  const entries = [...tally].sort(([left], [right]) => Number(isFailure(left)) - Number(isFailure(right)));
  return entries.map(([what, count]) => `${what} ${count}`).join(", ");
}

describe.each(durable)("a store on $name", (backend) => {
  test(
    `keeps all that it acknowledges to processes that are killed, for ${minutes} minutes`,
    async () => {
      const tally = await soak(backend, minutes * 60_000, (sofar) => console.log(`${backend.name}: ${text(sofar)}`));
      console.log(`${backend.name}, in all: ${text(tally)}`);
      expect(tally.get("kills")).toBeGreaterThan(0);
    },
    24 * 3_600_000,
  );
});
