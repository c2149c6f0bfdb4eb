import type { Cell, Column, Table } from "../harness/report.ts";
import { formatted } from "./table.ts";

/** A measure in which a peer's saver did better than ours: less time, or fewer bytes. */
interface LostRace {
  readonly where: string;
  readonly peer: string;
  readonly ours: string;
  readonly theirs: string;
  readonly ratio: number;
}

const homes: Readonly<Record<string, string>> = {
  MemorySaver: "memory",
  SqliteSaver: "SQLite",
  PostgresSaver: "Postgres",
};
const fewerIsBetter: readonly Column["unit"][] = ["µs", "ms", "bytes"];

/** Returns a table of everything in which a peer did better than our saver on the same home, the greatest loss first. */
export function lostRaces(tables: readonly Table[]): Table {
  const lost = tables.flatMap((table) => [...lostInTurns(table), ...lostBesideOthers(table)]);
  lost.sort((one, other) => other.ratio - one.ratio);
  return {
    part: "",
    title: "Where others win",
    notes: [],
    columns: [
      { title: "what" },
      { title: "against" },
      { title: "ours" },
      { title: "theirs" },
      { title: "ratio", unit: "×" },
    ],
    rows: lost.map(({ where, peer, ours, theirs, ratio }) => [where, peer, ours, theirs, ratio]),
  };
}

/** Returns the comparisons in turns that a peer won. */
function lostInTurns({ columns, rows }: Table): LostRace[] {
  const titles = columns.map(({ title }) => title);
  const at = ["ours", "against", "ours p50", "other p50", "ratio"].map((title) => titles.indexOf(title));
  if (at.includes(-1)) return [];
  return rows.flatMap((row) => {
    const [name, peer, ours, theirs, ratio] = at.map((index) => row[index] as Cell);
    if (!String(peer).includes("Saver") || typeof ratio !== "number" || ratio <= 1) return [];
    const unit = columns[at[2] as number]?.unit;
    const [our, their] = [ours, theirs].map((time) => formatted(time as number, unit));
    return [{ where: `${name}, time`, peer: String(peer), ours: our as string, theirs: their as string, ratio }];
  });
}

/** Returns the cells of tables of systems in which a peer has less than our saver on the same home, after as many steps. */
function lostBesideOthers({ title, columns, rows }: Table): LostRace[] {
  const steps = columns.findIndex(({ title: name }) => name === "N" || name === "steps");
  return rows.flatMap((peer) => {
    const saver = String(peer[0]).replace("LangGraph ", "");
    const home = homes[saver.split(" ")[0] as string];
    const ours = rows.find((row) => row[0] === `Threadmark, ${home}, LangGraph saver` && row[steps] === peer[steps]);
    if (ours === undefined) return [];
    return columns.flatMap(({ title: what, unit }, index) => {
      const [our, their] = [ours[index], peer[index]];
      if (!fewerIsBetter.includes(unit) || typeof our !== "number" || typeof their !== "number" || our <= their)
        return [];
      const count = steps < 0 ? "" : `, ${String(peer[steps])} steps`;
      const [mine, other] = [formatted(our, unit), formatted(their, unit)];
      return [{ where: `${title}${count}, ${what}`, peer: saver, ours: mine, theirs: other, ratio: our / their }];
    });
  });
}
