import type { TracingConfig } from './tracing.config.js';
import type { Tracing, TracingLog } from './tracing.port.js';

/** Undefined without a config: then nothing of OpenTelemetry is loaded. A collector that is away is told in the log and hurts nobody. */
export async function openTracing(config: TracingConfig | undefined, version: string, log: TracingLog): Promise<Tracing | undefined> {
  if (config === undefined) return undefined;
  const { OtelTracing } = await import('./otel-tracing.js');
  return new OtelTracing(config, version, log);
}
