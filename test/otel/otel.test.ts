import { readFileSync } from "node:fs";
import { context, SpanStatusCode } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { open } from "../../src/index.ts";
import { instrument, metricNames } from "../../src/otel/index.ts";
import { END, graph, START } from "../../src/runtime/index.ts";
import { sharedMemory } from "../../src/testing/index.ts";

const spans = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});

function instrumented(): MeterProvider {
  spans.reset();
  const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ readers: [reader] });
  onTestFinished(instrument({ tracer: provider.getTracer("test"), meter: meters.getMeter("test") }));
  return meters;
}

const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);

const asking = graph<{ n: number; ok?: boolean }>("asking")
  .node("count", ({ n }) => {
    provider.getTracer("user").startSpan("the user's own").end();
    return { n: n + 1 };
  })
  .node("ask", (_, ctx) => ({ ok: ctx.interrupt("May I?") as boolean }))
  .edge(START, "count")
  .edge("count", "ask")
  .edge("ask", END);

test("a run is a span, its tasks are children, and the user's own spans nest in the task", async () => {
  instrumented();
  await asking.compile({ store: await open("memory:") }).run({ n: 1 }, { thread: "t" });
  const all = spans.getFinishedSpans();
  const one = (name: string) => all.find((span) => span.name === name);
  const run = one("run asking");
  const task = one("task count");
  expect(run?.attributes).toMatchObject({ "threadmark.thread": "t", "threadmark.resumed": false });
  expect(run?.attributes["threadmark.status"]).toBe("interrupted");
  expect(task?.parentSpanContext?.spanId).toBe(run?.spanContext().spanId);
  expect(one("the user's own")?.parentSpanContext?.spanId).toBe(task?.spanContext().spanId);
  expect(one("commit")?.spanContext().traceId).toBe(run?.spanContext().traceId);
  expect(one("task ask")?.status.code).toBe(SpanStatusCode.UNSET);
});

test("a run that is resumed, by another store too, links to the run that began it", async () => {
  instrumented();
  const place = sharedMemory();
  await asking.compile({ store: await open(place) }).run({ n: 1 }, { thread: "t" });
  await asking.compile({ store: await open(place) }).resume({ thread: "t", value: true });
  const [first, second] = spans.getFinishedSpans().filter(({ name }) => name === "run asking");
  expect(second?.attributes["threadmark.resumed"]).toBe(true);
  expect(second?.links.map((link) => link.context.spanId)).toEqual([first?.spanContext().spanId]);
  expect(second?.links[0]?.context.traceId).toBe(first?.spanContext().traceId);
});

test("without a subscriber no trace context is stored", async () => {
  const store = await open("memory:");
  await asking.compile({ store }).run({ n: 1 }, { thread: "t" });
  expect((await store.thread("t").latest())?.metadata).not.toHaveProperty("trace");
});

test("every metric of the dashboard is one that is recorded, and every kind of event is measured", async () => {
  const meters = instrumented();
  const store = await open<{ n: number }>("memory:", { packRows: 4 });
  const thread = store.thread("t");
  for (let n = 0; n < 20; n++) await thread.put({ state: { n } });
  await thread.prune({ keepLast: 3 });
  await thread.put({ state: { n: 1 } }, { expect: null }).catch(() => {});
  await asking.compile({ store: await open("memory:") }).run({ n: 1 }, { thread: "t" });
  await meters.forceFlush();
  const scopes = measured.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
  const recorded = new Set(scopes.flatMap(({ metrics }) => metrics.map(({ descriptor }) => descriptor.name)));
  for (const name of [metricNames.commitDuration, metricNames.sealedRows, metricNames.runDuration]) {
    expect(recorded).toContain(name);
  }
  const dashboard = readFileSync(new URL("../../docs/guides/dashboard.json", import.meta.url), "utf8");
  const shown = [...dashboard.matchAll(/threadmark_[a-z_]+/g)].map(([name]) => name);
  const known = Object.values(metricNames).map((name) => name.replaceAll(".", "_"));
  expect(shown.length).toBeGreaterThan(8);
  expect(shown.filter((name) => !known.some((one) => name.startsWith(one)))).toEqual([]);
});
