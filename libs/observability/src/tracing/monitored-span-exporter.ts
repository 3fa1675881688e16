import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { telemetry } from '../telemetry.js';
import type { TracingLog } from './tracing.port.js';

/** Reports exports: a telemetry event for each batch, and a log line at the first failure and at the recovery. */
export class MonitoredSpanExporter implements SpanExporter {
  private failing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly url: string,
    private readonly log: TracingLog,
  ) {}

  export(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void {
    this.exporter.export(spans, (result) => {
      // ExportResultCode.SUCCESS is 0.
      const ok = !result.code;
      telemetry.spansExported.emit({ spans: spans.length, ok });
      if (ok === this.failing) this.logTransition(ok, result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }

  private logTransition(ok: boolean, error: Error | undefined): void {
    this.failing = !ok;
    if (ok) this.log.warn({ collector: this.url }, 'spans reach the collector again');
    else
      this.log.warn(
        { collector: this.url, reason: error?.message },
        'spans do not reach the collector and are dropped; calls are not affected',
      );
  }
}
