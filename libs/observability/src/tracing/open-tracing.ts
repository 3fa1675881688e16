import type { TracingConfig } from './tracing.config.js';
import type { TracedProcess, Tracing, TracingLog } from './tracing.port.js';

/** Opens tracing; undefined without a config, and then OpenTelemetry is not loaded. Logs an unreachable collector. */
export async function openTracing(
  config: TracingConfig | undefined,
  process: TracedProcess,
  log: TracingLog,
): Promise<Tracing | undefined> {
  if (config === undefined) return undefined;
  const { OtelTracing } = await import('./otel-tracing.js');
  return new OtelTracing(config, process, log);
}
