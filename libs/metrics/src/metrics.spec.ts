import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from '@jest/globals';
import { signals } from '#signals';
import { createMetrics, type Metrics, type MetricsOptions } from './metrics.js';

const MEMORY_INFO = '# Memory\r\nused_memory:1048576\r\nmaxmemory:0\r\nmem_fragmentation_ratio:1.25\r\n';

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

/** Every signal once: what one busy second of a process would do. */
function emitEverything() {
  signals.callSubmitted.emit({ tool: 'shell', pool: 'shell' });
  signals.callEnded.emit({ tool: 'shell', outcome: 'failed', code: 'tool_failed' });
  signals.attemptStarted.emit({ tool: 'shell', pool: 'shell', cause: 'first', queueWaitMs: 12 });
  signals.attemptFinished.emit({ tool: 'shell', pool: 'shell', runMs: 1500, ended: 'end' });
  signals.retried.emit({ tool: 'shell', reason: 'worker_lost' });
  signals.cancelled.emit({ tool: 'shell', how: 'killed', tookMs: 2000 });
  signals.leaseExpired.emit({ tool: 'shell' });
  signals.leaseLost.emit({ tool: 'shell' });
  signals.transitionRefused.emit({ transition: 'end', code: 'FENCED' });
  signals.scriptRun.emit({ transitions: 7, ms: 0.8 });
  signals.dispatchDuplicate.emit({ pool: 'read', code: 'ENDED' });
  signals.dispatchFailed.emit({ pool: 'read' });
  signals.dispatchRepeated.emit({ pool: 'read' });
  signals.tailDelivered.emit({ events: 3, lagMs: 2 });
  signals.tailGapRepaired.emit({ partition: '00', events: 2 });
  signals.socketOpened.emit({ kind: 'ws' });
  signals.socketClosed.emit({ kind: 'ws', why: 'client' });
  signals.updatesMerged.emit({ where: 'socket', n: 4 });
  signals.spansExported.emit({ spans: 3, ok: true });
  signals.hookRun.emit({ event: 'before', verdict: 'allow', cached: false, tookMs: 12 });
  signals.rateLimited.emit({ limit: 'key' });
  signals.securityAlert.emit({ kind: 'denied_syscall' });
  signals.outputTruncated.emit({ tool: 'shell' });
}

const allProbes: Required<MetricsOptions>['probes'] = {
  queues: async () => [{ pool: 'read', waiting: 3, active: 1, oldestWaitingMs: 2500 }],
  slots: () => [{ pool: 'read', slots: 64, running: 2 }],
  redisMemoryInfo: async () => MEMORY_INFO,
  approvals: async () => ({ waiting: 2, oldestMs: 3000 }),
  overdueMs: async () => 1500,
};

describe('metrics', () => {
  it('passes `promtool check metrics` with every metric touched', async () => {
    let looks = 0;
    const failsAtFirst = async () => {
      if (looks++ === 0) throw new Error('Redis is away');
      return MEMORY_INFO;
    };
    const metrics = open({ probes: { ...allProbes, redisMemoryInfo: failsAtFirst } });
    emitEverything();
    await metrics.scrape();
    const text = await metrics.scrape();

    const declared = (await metrics.registry.getMetricsAsJSON()).map((metric) => metric.name);
    expect(declared.filter((name) => !new RegExp(`^${name}(_bucket)?[ {]`, 'm').test(text))).toEqual([]);
    expect(declared.filter((name) => !name.startsWith('toolyard_'))).toEqual([]);
    expect(promtoolCheck(text)).toEqual({ status: 0, said: '' });
  });

  it('counts what is signalled, in base units', async () => {
    const metrics = open({ probes: allProbes });
    emitEverything();
    const lines = (await metrics.scrape()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'toolyard_calls_submitted_total{tool="shell",pool="shell"} 1',
        'toolyard_calls_ended_total{tool="shell",outcome="failed",code="tool_failed"} 1',
        'toolyard_call_queue_wait_seconds_sum{pool="shell"} 0.012',
        'toolyard_call_run_seconds_sum{tool="shell"} 1.5',
        'toolyard_call_cancel_seconds_sum{how="killed"} 2',
        'toolyard_script_transitions_sum 7',
        'toolyard_tail_events_total 3',
        'toolyard_sockets{kind="ws"} 0',
        'toolyard_updates_merged_total{where="socket"} 4',
        'toolyard_queue_oldest_seconds{pool="read"} 2.5',
        'toolyard_worker_slots_busy{pool="read"} 2',
        'toolyard_redis_memory_used_bytes 1048576',
        'toolyard_approvals_oldest_seconds 3',
        'toolyard_timers_overdue_seconds 1.5',
        `toolyard_build_info{role="gateway",version="1.2.3",node="${process.version}"} 1`,
      ]),
    );
  });

  it('lets no name of a caller become a label: unknown tools count as other', async () => {
    const metrics = open({ isKnownTool: (name) => name === 'echo' });
    signals.callSubmitted.emit({ tool: 'echo', pool: 'read' });
    for (let n = 0; n < 1000; n += 1) signals.callSubmitted.emit({ tool: `made_up_${n}`, pool: 'read' });
    const submitted = (await metrics.scrape()).split('\n').filter((line) => line.startsWith('toolyard_calls_submitted_total{'));
    expect(submitted).toEqual([
      'toolyard_calls_submitted_total{tool="echo",pool="read"} 1',
      'toolyard_calls_submitted_total{tool="other",pool="read"} 1000',
    ]);
  });

  it('answers in time without the gauges of a probe that hangs or fails, and shows no old value', async () => {
    let broken = false;
    const metrics = open({
      probeTimeoutMs: 20,
      probes: {
        queues: async () => (broken ? new Promise<never>(() => {}) : [{ pool: 'read', waiting: 3, active: 1, oldestWaitingMs: 1 }]),
        redisMemoryInfo: async () => {
          if (broken) throw new Error('Redis is away');
          return MEMORY_INFO;
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

  it('listens no more once closed, and closing twice is harmless', async () => {
    const metrics = open();
    const listening = open();
    metrics.close();
    metrics.close();
    signals.callSubmitted.emit({ tool: 'echo', pool: 'read' });
    expect(await metrics.scrape()).not.toContain('echo');
    expect(await listening.scrape()).toContain('toolyard_calls_submitted_total{tool="echo",pool="read"} 1');
  });

  it('sees the event loop being held up', async () => {
    const metrics = open();
    const seen = async () => {
      await someTimersRan();
      const until = performance.now() + 120;
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

/** The sampler of the delay is a timer itself: it sees a hold-up only between two of its ticks. */
const someTimersRan = () => new Promise((resolve) => setTimeout(resolve, 25));

function promtoolCheck(text: string): { status: number | null; said: string } {
  const run = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  if (run.error) throw new Error('promtool is missing. Install it: apt-get install prometheus', { cause: run.error });
  return { status: run.status, said: `${run.stdout}${run.stderr}`.trim() };
}
