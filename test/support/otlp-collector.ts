import { createServer, type Server } from 'node:http';
import { z } from 'zod';
import { eventually } from './eventually.js';

const Value = z.object({ stringValue: z.string().optional(), intValue: z.number().optional(), boolValue: z.boolean().optional() });
const Attribute = z.object({ key: z.string(), value: Value });
const OtlpSpan = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes: z.array(Attribute),
  status: z.object({ code: z.number(), message: z.string().optional() }),
});
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(Attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(OtlpSpan), schemaUrl: z.string().optional() })),
    }),
  ),
});

export interface CollectedSpan {
  readonly service: string;
  /** `service.instance.id` */
  readonly instance: string;
  readonly schemaUrl: string | undefined;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly failed: boolean;
  readonly startMs: number;
  readonly endMs: number;
}

const KINDS = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

/** A collector on loopback that takes OTLP over HTTP as JSON and keeps what it gets. */
export class OtlpCollector {
  /** The text of every request. */
  readonly bodies: string[] = [];
  readonly spans: CollectedSpan[] = [];
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        this.bodies.push(body);
        this.spans.push(...spansOf(body));
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
  }

  static async start(): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    await new Promise<void>((resolve) => collector.server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the collector does not listen');
    return `http://127.0.0.1:${address.port}`;
  }

  trace(traceId: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  /** The spans of a trace, once every name is there as often as it is asked for, and every parent but the given one, which another process exports. */
  whole(traceId: string, names: readonly string[], foreignParent: string): Promise<CollectedSpan[]> {
    return eventually(
      () => {
        const spans = this.trace(traceId);
        const all = names.every((name) => countOf(spans, name) >= countOfName(names, name));
        return all && orphans(spans, foreignParent).length === 0 ? spans : undefined;
      },
      `the spans ${names.join(', ')} of ${traceId}`,
    ).catch((error: unknown) => {
      const got = this.trace(traceId).map(({ name }) => name);
      const lost = orphans(this.trace(traceId), foreignParent);
      throw new Error(
        `${error instanceof Error ? error.message : String(error)}; got ${got.join(', ')}; without a parent: ${lost.join(', ')}`,
      );
    });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** The spans whose parent is neither in the trace nor the one outside it. */
function orphans(spans: readonly CollectedSpan[], foreignParent: string): string[] {
  const known = new Set([foreignParent, ...spans.map(({ spanId }) => spanId)]);
  return spans.filter(({ parentSpanId }) => parentSpanId === undefined || !known.has(parentSpanId)).map(({ name }) => name);
}

const countOf = (spans: readonly CollectedSpan[], name: string) => spans.filter((span) => span.name === name).length;
const countOfName = (names: readonly string[], name: string) => names.filter((other) => other === name).length;

function spansOf(body: string): CollectedSpan[] {
  return Export.parse(JSON.parse(body)).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const named = attributesOf(resource.attributes);
    const [service, instance] = [String(named['service.name']), String(named['service.instance.id'])];
    return scopeSpans.flatMap(({ spans, schemaUrl }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, kind, attributes, status, startTimeUnixNano, endTimeUnixNano }) => ({
        service,
        instance,
        schemaUrl,
        traceId,
        spanId,
        parentSpanId: parentSpanId === '' ? undefined : parentSpanId,
        name,
        kind: KINDS[kind] ?? 'internal',
        attributes: attributesOf(attributes),
        failed: status.code === 2,
        startMs: Number(BigInt(startTimeUnixNano) / 1_000_000n),
        endMs: Number(BigInt(endTimeUnixNano) / 1_000_000n),
      })),
    );
  });
}

function attributesOf(attributes: readonly z.output<typeof Attribute>[]): Record<string, string | number | boolean | undefined> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.boolValue]));
}
