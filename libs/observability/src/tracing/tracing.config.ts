import { z } from 'zod';

/** Settings of the export of spans. */
export interface TracingConfig {
  readonly serviceName: string;
  /** Address of the collector's trace intake. */
  readonly url: string;
  readonly content: boolean;
}

const url = z.url({ protocol: /^https?$/, error: 'expected the http or https URL of an OTLP collector, such as http://127.0.0.1:4318' });
const flag = z.string().transform((text) => text.toLowerCase() === 'true');
const protocol = z.literal('http/json', {
  error: 'expected http/json, which collectors take on the same port as http/protobuf (4318); or leave it unset',
});

/**
 * Standard variables for the export and its address. OpenTelemetry's SDK itself reads the others (`OTEL_TRACES_SAMPLER`,
 * `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_BSP_*`, `OTEL_RESOURCE_ATTRIBUTES` …).
 */
export const TRACING_ENV = {
  OTEL_EXPORTER_OTLP_ENDPOINT: url
    .optional()
    .meta({ description: 'The collector, such as `http://127.0.0.1:4318`.', shownDefault: 'none: no traces' }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url.optional().describe(`Full URL of the collector's trace intake.`),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol.optional().meta({ description: 'The only protocol.', shownDefault: '`http/json`' }),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol.optional().meta({ description: 'The only protocol.', shownDefault: '`http/json`' }),
  OTEL_TRACES_EXPORTER: z
    .enum(['otlp', 'none'], { error: 'expected otlp or none' })
    .optional()
    .meta({ description: 'Whether spans are exported.', shownDefault: '`otlp` where an endpoint is set' }),
  OTEL_SDK_DISABLED: flag.default(false).meta({ description: '`true` switches traces off.', shownType: '`true` or `false`' }),
  OTEL_SERVICE_NAME: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Service name in traces.', shownDefault: '`toolyard-gateway`, `toolyard-worker`' }),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag
    .default(false)
    .meta({ description: '`true`: contents in spans.', shownType: '`true` or `false`' }),
};
const TracingEnv = z.object(TRACING_ENV);

/** Undefined without tracing, which requires an endpoint or `OTEL_TRACES_EXPORTER=otlp`. */
export function tracingConfig(env: z.output<typeof TracingEnv>, serviceName: string): TracingConfig | undefined {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const traces = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base === undefined ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`);
  const exporter = env.OTEL_TRACES_EXPORTER ?? (traces === undefined ? 'none' : 'otlp');
  if (env.OTEL_SDK_DISABLED || exporter === 'none') return undefined;
  return {
    serviceName: env.OTEL_SERVICE_NAME ?? serviceName,
    url: traces ?? 'http://localhost:4318/v1/traces',
    content: env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
  };
}
