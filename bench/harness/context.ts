import type { Place } from "../environment/place.ts";
import type { Report } from "./report.ts";

/** The argument of each part of the benchmark. */
export interface Context {
  readonly place: Place;
  readonly report: Report;
  /** Fewer and smaller runs. */
  readonly quick: boolean;
}

/** A part that can be run by itself. */
export interface Part {
  readonly name: string;
  readonly title: string;
  run(context: Context): Promise<void>;
}
