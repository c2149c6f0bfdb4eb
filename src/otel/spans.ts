import {
  type Attributes,
  context,
  type Link,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { BackendEvent, WorkEvent } from "../platform/diagnostics.ts";
import type { Listeners } from "./listeners.ts";

/** W3C trace context: version, trace id, span id, flags. */
const traceparent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * Makes a span of every run, with a child for every attempt at a task, in which the task's own spans nest. Commits and reads
 * are spans where another span is active: alone each would be a trace of its own.
 */
export function recordSpans(tracer: Tracer): Listeners {
  const spans = new WeakMap<WorkEvent, Span>();
  const begin = (event: WorkEvent, name: string, attributes: Attributes, links: Link[] = []): Span => {
    const span = tracer.startSpan(name, {
      kind: SpanKind.INTERNAL,
      attributes: { ...attributesOf(event), ...attributes },
      links,
    });
    spans.set(event, span);
    const { around: outer = (work) => work() } = event;
    event.around = (work) => outer(() => context.with(trace.setSpan(context.active(), span), work));
    return span;
  };
  const end = (event: WorkEvent): void => {
    const span = spans.get(event);
    if (span === undefined) return;
    if (event.status !== undefined) span.setAttribute("threadmark.status", event.status);
    if (isQuestion(event.error)) span.setAttribute("threadmark.status", "interrupted");
    else if (event.error !== undefined) fail(span, event.error);
    span.end();
  };
  const backend = (name: string, { backend: system, count, refused, duration, error }: BackendEvent): void => {
    if (trace.getActiveSpan() === undefined) return;
    const now = Date.now();
    const attributes = {
      "db.system.name": system,
      "threadmark.count": count,
      ...(refused && { "threadmark.refused": refused }),
    };
    const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime: now - duration, attributes });
    if (error !== undefined) fail(span, error);
    span.end(now);
  };
  return {
    "run:start": (event) => {
      const links = event.begunBy === undefined ? [] : linksTo(event.begunBy);
      const span = begin(event, `run ${event.graph}`, { "threadmark.resumed": event.resumed ?? false }, links);
      event.trace = contextOf(span);
    },
    run: end,
    "task:start": (event) => {
      const { node = "", task = "", attempt = 1 } = event;
      begin(event, `task ${node}`, {
        "threadmark.node": node,
        "threadmark.task": task,
        "threadmark.attempt": attempt,
      });
    },
    task: end,
    commit: (event) => backend("commit", event),
    read: (event) => backend("read", event),
  };
}

function attributesOf({ graph, thread, run }: WorkEvent): Attributes {
  return {
    "threadmark.graph": graph,
    ...(thread !== undefined && { "threadmark.thread": thread }),
    ...(run !== undefined && { "threadmark.run": run }),
  };
}

/** Tells whether a task ended because it asks a person: no failure. */
export function isQuestion(error: unknown): boolean {
  return error instanceof Error && error.name === "Interruption";
}

function fail(span: Span, error: unknown): void {
  span.recordException(error instanceof Error ? error : String(error));
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (typeof code === "string") span.setAttribute("error.type", code);
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
}

function contextOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

/** Returns a link to the run that began this one. The text comes from a store: one that is no trace context is ignored. */
function linksTo(text: string): Link[] {
  const [, traceId, spanId, flags] = traceparent.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return [];
  return [{ context: { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true } }];
}
