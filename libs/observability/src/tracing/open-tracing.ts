import type { TracingConfig } from './tracing.config.js';
import type { TracedProcess, Tracing, TracingLog } from './tracing.port.js';

/** Undefined without a config: then nothing of OpenTelemetry is loaded. When the collector is away, a line in the log says so. */
export async function openTracing(
  config: TracingConfig | undefined,
  process: TracedProcess,
  log: TracingLog,
): Promise<Tracing | undefined> {
  if (config === undefined) return undefined;
  const { OtelTracing } = await import('./otel-tracing.js');
  return new OtelTracing(config, process, log);
}
