import { afterEach, describe, expect, it } from '@jest/globals';
import { telemetry } from '../telemetry.js';
import { createMetrics, type Metrics, type MetricsOptions } from './metrics.js';

const MEMORY = { usedBytes: 1_048_576, maxBytes: 0, fragmentation: 1.25 };

let opened: Metrics[] = [];
const open = (options: Partial<MetricsOptions> = {}) => {
  const metrics = createMetrics({ role: 'gateway', version: '1.2.3', ...options });
  opened.push(metrics);
  return metrics;
};
afterEach(() => {
  for (const metrics of opened) metrics.close();
  opened = [];
});

const allProbes: Required<MetricsOptions>['probes'] = {
  queues: async () => [{ pool: 'read', waiting: 3, active: 1, oldestWaitingMs: 2500 }],
  slots: () => [{ pool: 'read', slots: 64, running: 2 }],
  redisMemory: async () => MEMORY,
  approvals: async () => ({ waiting: 2, oldestMs: 3000 }),
  overdueMs: async () => 1500,
};

describe('metrics', () => {
  it('starts counters at 0 under each of their labels, so that their first event is an increase', async () => {
    const lines = (await open({ probes: allProbes, tools: () => [{ name: 'shell', pool: 'shell' }] }).scrape()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'toolyard_calls_ended_total{tool="shell",outcome="unknown",code="outcome_unknown"} 0',
        'toolyard_calls_ended_total{tool="shell",outcome="denied",code="approval_expired"} 0',
        'toolyard_leases_expired_total{tool="shell"} 0',
        'toolyard_dispatch_failures_total{pool="read"} 0',
        'toolyard_call_cancel_seconds_count{how="unknown"} 0',
        'toolyard_probe_failures_total{probe="redis_memory"} 0',
      ]),
    );
  });

  it('starts the times of tools at 0 on workers, and keeps values from before the first scrape', async () => {
    const tools = ['shell', 'echo'].map((name) => ({ name, pool: 'read' as const }));
    const [worker, gateway] = [open({ role: 'worker', tools: () => [...tools] }), open({ tools: () => tools })];
    telemetry.attemptFinished.emit({ tool: 'echo', pool: 'read', runMs: 5, cpuMs: 1, ended: 'end' });
    for (let scrapes = 0; scrapes < 2; scrapes++) {
      const lines = (await worker.scrape()).split('\n');
      expect(lines).toEqual(
        expect.arrayContaining([
          'toolyard_call_run_seconds_count{tool="shell"} 0',
          'toolyard_call_run_seconds_count{tool="echo"} 1',
          'toolyard_call_cpu_seconds_total{tool="shell"} 0',
        ]),
      );
    }
    expect(await gateway.scrape()).not.toContain('toolyard_call_run_seconds_count{tool="shell"}');
  });

  it('starts metrics by source and partition at 0, also without sources', async () => {
    const ours = { source: 'ours', status: 'ok', tools: 3, pending: 1 } as const;
    const none = (await open({ probes: { sources: () => [] }, partitions: ['07'] }).scrape()).split('\n');
    expect(none).toEqual(
      expect.arrayContaining([
        'toolyard_sources{source="other",status="ok"} 0',
        'toolyard_source_tools{source="other",state="pending"} 0',
        'toolyard_source_calls_total{source="other",result="unavailable"} 0',
        'toolyard_mcp_requests_total{protocol="2026-07-28",method="tools/call",outcome="ok"} 0',
        'toolyard_projection_skipped_events_total{partition="07"} 0',
      ]),
    );
    const one = (await open({ probes: { sources: () => [ours] } }).scrape()).split('\n');
    expect(one).toEqual(
      expect.arrayContaining([
        'toolyard_sources{source="ours",status="ok"} 1',
        'toolyard_source_tools{source="ours",state="usable"} 2',
        'toolyard_source_refreshes_total{source="ours",result="failed"} 0',
        'toolyard_source_calls_total{source="ours",result="stopped"} 0',
      ]),
    );
  });

  it('limits the initial series for any number of tools', async () => {
    const tools = Array.from({ length: 1_000 }, (_unused, n) => ({ name: `tool_${n}`, pool: 'read' as const }));
    const lines = (await open({ tools: () => tools }).scrape()).split('\n');
    expect(lines.filter((line) => line.startsWith('toolyard_calls_submitted_total{'))).toHaveLength(200);
  });

  it('exports the values of probes in base units', async () => {
    const lines = (await open({ probes: allProbes }).scrape()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'toolyard_sockets{kind="ws"} 0',
        'toolyard_queue_oldest_seconds{pool="read"} 2.5',
        'toolyard_worker_slots_busy{pool="read"} 2',
        'toolyard_redis_memory_used_bytes 1048576',
        'toolyard_approvals_oldest_seconds 3',
        'toolyard_timers_overdue_seconds 1.5',
        `toolyard_build_info{role="gateway",version="1.2.3",node="${process.version}"} 1`,
      ]),
    );
  });

  it('answers in time without the gauges of a probe that hangs or fails, and shows no old value', async () => {
    let broken = false;
    const metrics = open({
      probeTimeoutMs: 20,
      probes: {
        queues: async () => (broken ? new Promise<never>(() => {}) : [{ pool: 'read', waiting: 3, active: 1, oldestWaitingMs: 1 }]),
        redisMemory: async () => {
          if (broken) throw new Error('Redis is away');
          return MEMORY;
        },
      },
    });
    expect(await metrics.scrape()).toContain('toolyard_queue_waiting_calls{pool="read"} 3');
    broken = true;
    const text = await metrics.scrape();
    expect(text).not.toContain('toolyard_queue_waiting_calls{');
    expect(text).not.toMatch(/^toolyard_redis_memory_used_bytes /m);
    expect(text).toContain('toolyard_probe_failures_total{probe="queues"} 1');
    expect(text).toContain('toolyard_probe_failures_total{probe="redis_memory"} 1');
  });

  it('measures a blocked event loop', async () => {
    const metrics = open();
    const seen = async () => {
      await someTimersRan();
      const until = performance.now() + 200;
      while (performance.now() < until);
      await someTimersRan();
      const line = (await metrics.scrape()).split('\n').find((text) => text.startsWith('toolyard_event_loop_delay_max_seconds '));
      return Number(line?.split(' ')[1]);
    };
    const deadline = Date.now() + 5_000;
    let longest = 0;
    while (longest < 0.1 && Date.now() < deadline) longest = await seen();
    expect(longest).toBeGreaterThan(0.1);
    expect(longest).toBeLessThan(5);
  });
});

/** The sampler of the delay is a timer itself: it measures a blocked loop only between two of its ticks. */
const someTimersRan = () => new Promise((resolve) => setTimeout(resolve, 25));
