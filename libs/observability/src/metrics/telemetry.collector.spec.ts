import { afterEach, describe, expect, it } from '@jest/globals';
import { telemetry, type TelemetryEvent } from '../telemetry.js';
import { createMetrics, type Metrics } from './metrics.js';

/** Facts of all events; each uses its own. */
const FACTS = {
  tool: 'shell',
  pool: 'read',
  risk: 'low',
  outcome: 'completed',
  cause: 'first',
  ended: 'end',
  reason: 'worker_drained',
  how: 'stopped',
  refused: 'low',
  scope: 'tenant',
  limit: 'bytes',
  transition: 'end',
  code: 'none',
  partition: 'p0',
  kind: 'ws',
  why: 'bye',
  source: 's',
  result: 'ok',
  where: 'worker',
  event: 'before',
  verdict: 'allow',
  agent: 'helper',
  cached: false,
  queueWaitMs: 1,
  runMs: 1,
  cpuMs: 1,
  tookMs: 1,
  transitions: 1,
  ms: 1,
  events: 1,
  lagMs: 1,
  lateMs: 1,
  bytes: 1,
  calls: 1,
  weeks: 1,
  n: 1,
  spans: 1,
  inputTokens: 1,
  outputTokens: 1,
};
const MCP_REQUEST = { protocol: 'none', method: 'tools/call', outcome: 'ok' } as const;

let metrics: Metrics | undefined;
afterEach(() => metrics?.close());

describe('the metrics of events', () => {
  it('moves every counter and every histogram when each event of telemetry is emitted', async () => {
    metrics = createMetrics({ role: 'gateway', version: '1.2.3' });
    const { mcpRequest, ...others } = telemetry;
    mcpRequest.emit(MCP_REQUEST);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the facts have what each of the events has
    telemetry.scheduleRun.emit({ result: 'submitted', lateMs: 1 });
    for (const event of Object.values(others) as TelemetryEvent<object>[]) for (const ok of [true, false]) event.emit({ ...FACTS, ok });
    const lines = (await metrics.scrape()).split('\n');
    const names = lines.flatMap((line) => /^# TYPE (toolyard_\w+) (?:counter|histogram)$/.exec(line)?.[1] ?? []);
    const hasMoved = (name: string) => lines.some((line) => new RegExp(`^${name}(?:_count)?(?:\\{.*\\})? (?!0$)`).test(line));
    expect(names.length).toBeGreaterThan(50);
    // Probes change this metric.
    expect(names.filter((name) => !hasMoved(name))).toEqual(['toolyard_probe_failures_total']);
  });
});
