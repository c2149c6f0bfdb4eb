/**
 * OpenTelemetry spans and metrics from Threadmark's diagnostics channels.
 *
 * @example
 * import { instrument } from "threadmark/otel";
 * const stop = instrument(); // after the SDK was set up
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type Meter, metrics, type Tracer, trace } from "@opentelemetry/api";
import { checkOptions } from "../model/validation/checks.ts";
import type { Listeners } from "./listeners.ts";
import { recordMetrics } from "./metrics.ts";
import { recordSpans } from "./spans.ts";

export type { BackendEvent, Diagnostics, WorkEvent } from "../platform/diagnostics.ts";
export { metricNames } from "./metrics.ts";

/** Options of `instrument`. */
export interface InstrumentOptions {
  /** Where spans go. @default the global tracer provider's tracer "threadmark" */
  readonly tracer?: Tracer;
  /** Where metrics go. @default the global meter provider's meter "threadmark" */
  readonly meter?: Meter;
}

/**
 * Turns Threadmark's events into OpenTelemetry spans and metrics, until the returned function is called. Call it once a
 * process, after the SDK was set up.
 *
 * @example
 * const stop = instrument();
 * process.on("SIGTERM", stop);
 */
export function instrument(options: InstrumentOptions = {}): () => void {
  checkOptions(options, ["tracer", "meter"], "instrument");
  const { tracer = trace.getTracer("threadmark"), meter = metrics.getMeter("threadmark") } = options;
  const stops = [recordSpans(tracer), recordMetrics(meter)].map(listen);
  return () => {
    for (const stop of stops) stop();
  };
}

function listen(listeners: Listeners): () => void {
  const subscribed = Object.entries(listeners).map(([name, take]) => {
    const listener = (message: unknown): void => (take as (message: unknown) => void)(message);
    subscribe(`threadmark:${name}`, listener);
    return () => unsubscribe(`threadmark:${name}`, listener);
  });
  return () => {
    for (const stop of subscribed) stop();
  };
}
