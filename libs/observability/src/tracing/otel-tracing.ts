import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as OtelSpan,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { MonitoredSpanExporter } from './monitored-span-exporter.js';
import type { TracingConfig } from './tracing.config.js';
import type { Attributes, Span, SpanStart, TracedProcess, Tracing, TracingLog } from './tracing.port.js';

/** Schema of the semantic conventions for names of attributes (https://opentelemetry.io/docs/specs/semconv/gen-ai/). */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.37.0';

/** Longest wait of a stop for the collector. */
const FLUSH_MS = 2_000;
/** Time-out of an export with its retries: a hanging collector delays a batch of spans, but no call. */
const EXPORT_MS = 5_000;

const KINDS = { server: SpanKind.SERVER, producer: SpanKind.PRODUCER, internal: SpanKind.INTERNAL } as const;
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * Tracing over OpenTelemetry's SDK. Each app has its own provider (standalone has two apps in one process); the first one is
 * also the global one, for other instrumented code.
 */
export class OtelTracing implements Tracing {
  readonly content: boolean;
  private readonly provider: BasicTracerProvider;
  private readonly tracer: Tracer;
  private closing: Promise<void> | undefined;

  constructor(config: TracingConfig, { version, instance }: TracedProcess, log: TracingLog) {
    const ours = resourceFromAttributes({ 'service.instance.id': instance }, { schemaUrl: SCHEMA_URL });
    const named = resourceFromAttributes({ 'service.name': config.serviceName, 'service.version': version });
    // Resource attributes of the environment take precedence, except the name, which is resolved already.
    const fromEnv = detectResources({ detectors: [envDetector] });
    this.content = config.content;
    this.provider = new BasicTracerProvider({
      resource: defaultResource().merge(ours).merge(fromEnv).merge(named),
      spanProcessors: [
        new BatchSpanProcessor(
          new MonitoredSpanExporter(new OTLPTraceExporter({ url: config.url, timeoutMillis: EXPORT_MS }), config.url, log),
        ),
      ],
    });
    this.tracer = this.provider.getTracer('toolyard', version, { schemaUrl: SCHEMA_URL });
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(this.provider);
  }

  get active(): string | undefined {
    const span = trace.getActiveSpan();
    return span && traceparentOf(span);
  }

  start({ name, kind = 'internal', parent, startedAt, endedAt, attributes }: SpanStart): Span {
    const from = contextOf(parent);
    const options = { kind: KINDS[kind], attributes: known(attributes), startTime: startedAt };
    return new RunningSpan(this.tracer.startSpan(name, options, from), from, endedAt);
  }

  close(): Promise<void> {
    return (this.closing ??= this.flush());
  }

  private async flush(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, FLUSH_MS)));
    await Promise.race([this.provider.shutdown().catch(() => {}), late]);
    clearTimeout(timer);
  }
}

class RunningSpan implements Span {
  readonly traceparent: string;

  constructor(
    private readonly span: OtelSpan,
    private readonly from: Context,
    private readonly endedAt: number | undefined,
  ) {
    this.traceparent = traceparentOf(span);
  }

  set(attributes: Attributes): void {
    if (!this.span.isRecording()) return;
    this.span.setAttributes(known(attributes));
  }

  run<T>(work: () => T): T {
    return context.with(trace.setSpan(this.from, this.span), work);
  }

  end({ failed }: Parameters<Span['end']>[0] = {}): void {
    if (!this.span.isRecording()) return;
    if (failed !== undefined) {
      this.span.setAttribute('error.type', failed.type);
      this.span.setStatus({ code: SpanStatusCode.ERROR, message: failed.message });
    }
    this.span.end(this.endedAt);
  }
}

function known(attributes: Attributes): Record<string, string | number | boolean> {
  const entries = Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return Object.fromEntries(entries);
}

function traceparentOf(span: OtelSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** Context of a traceparent; a malformed one counts as none. */
function contextOf(traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true });
}
