import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { createMetrics } from '#observability';
import { alertRules, grafanaDashboards, expressionsOf } from '../support/prometheus.js';

const FOLDER = 'deploy/prometheus';
const Tests = z.object({
  tests: z.array(
    z.object({
      name: z.string(),
      input_series: z.array(z.object({ series: z.string() })),
      promql_expr_test: z.array(z.object({ expr: z.string(), exp_samples: z.array(z.object({ value: z.number() })) })),
    }),
  ),
});

function promtool(...args: string[]): { status: number | null; said: string } {
  const run = spawnSync('promtool', args, { encoding: 'utf8' });
  if (run.error) throw new Error('promtool is missing. Install it: apt-get install prometheus', { cause: run.error });
  return { status: run.status, said: run.stdout + run.stderr };
}

/** Every series name that our metrics make, histograms by their parts. */
function seriesNames(): Set<string> {
  const metrics = createMetrics({ role: 'gateway' });
  const names = metrics.registry.getMetricsAsArray().flatMap(({ name }) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]);
  metrics.close();
  return new Set(names);
}

const namesIn = (expr: string) => [...expr.matchAll(/\btoolyard_[a-z0-9_]+/g)].map(([name]) => name);

describe('the alerts', () => {
  const rules = alertRules();

  it('passes promtool check rules with the alerts', () => {
    expect(promtool('check', 'rules', `${FOLDER}/alerts.yaml`)).toMatchObject({ status: 0, said: expect.stringContaining('SUCCESS') });
  });

  it('fires each of the alerts, and none before', () => {
    const { tests } = Tests.parse(parse(readFileSync(`${FOLDER}/alerts.test.yaml`, 'utf8')));
    const seen = tests.filter(({ name, promql_expr_test: checks }) => {
      const own = checks.filter(({ expr }) => expr === `count(ALERTS{alertname="${name}",alertstate="firing"})`);
      return (
        own.some(({ exp_samples: samples }) => samples.length === 0) && own.some(({ exp_samples: samples }) => samples[0]?.value === 1)
      );
    });
    expect(seen.map(({ name }) => name)).toEqual(rules.map(({ alert }) => alert));
    expect(promtool('test', 'rules', `${FOLDER}/alerts.test.yaml`)).toMatchObject({ status: 0, said: expect.stringContaining('SUCCESS') });
  });

  it('uses only metrics that exist in the alerts and their tests', () => {
    const known = seriesNames();
    expect(rules.flatMap(({ expr }) => namesIn(expr)).filter((name) => !known.has(name))).toEqual([]);
    expect(namesIn(readFileSync(`${FOLDER}/alerts.test.yaml`, 'utf8')).filter((name) => !known.has(name))).toEqual([]);
  });

  it('links each alert to its instructions, heading by heading', () => {
    const headings = [...readFileSync(`${FOLDER}/runbook.md`, 'utf8').matchAll(/^## (\w+)\n\S/gm)].map((match) => match[1] ?? '');
    expect(headings.sort()).toEqual(rules.map(({ alert }) => alert).sort());
    for (const { alert, annotations } of rules) expect(annotations.runbook).toBe(`runbook.md#${alert.toLowerCase()}`);
  });
});

describe('the boards', () => {
  it.each(grafanaDashboards().map((board) => [board.title, board] as const))(
    'asks only for metrics that exist on the board %s',
    (_title, board) => {
      const known = seriesNames();
      const expressions = expressionsOf(board);
      expect(expressions.length).toBeGreaterThan(8);
      const variables = board.templating.list.map(({ query }) => JSON.stringify(query));
      expect([...expressions, ...variables].flatMap(namesIn).filter((name) => !known.has(name))).toEqual([]);
      expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
    },
  );

  it('has only expressions on the boards that Prometheus can read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolyard-boards-'));
    try {
      const rules = grafanaDashboards().flatMap((board) =>
        expressionsOf(board).map((expr, index) => ({ record: `${board.uid.replaceAll('-', '_')}:${index}`, expr })),
      );
      writeFileSync(join(folder, 'rules.yaml'), JSON.stringify({ groups: [{ name: 'boards', rules }] }));
      expect(promtool('check', 'rules', join(folder, 'rules.yaml'))).toMatchObject({
        status: 0,
        said: expect.stringContaining(`${rules.length} rules found`),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('shows every metric on the boards except the ones listed here', () => {
    const metrics = createMetrics({ role: 'gateway' });
    const all = metrics.registry.getMetricsAsArray().map(({ name }) => name);
    metrics.close();
    const shown = grafanaDashboards().flatMap((board) => expressionsOf(board).join(' '));
    const hidden = all.filter((name) => !shown.some((text) => text.includes(name)));
    expect(hidden.sort()).toEqual([...HIDDEN].sort());
  });

  it('mounts the boards and alerts in compose.yaml, with its Prometheus', () => {
    const compose = readFileSync('deploy/compose.yaml', 'utf8');
    const mounts = [...compose.matchAll(/^ +- (\.\/(?:prometheus|grafana)[a-z/]*):([a-z/]+):ro$/gm)].map((match) => [
      match[1] ?? '',
      match[2] ?? '',
    ]);
    expect(mounts.map(([, inside]) => inside)).toEqual(['/etc/prometheus', '/etc/grafana/provisioning', '/etc/toolyard/dashboards']);
    expect(mounts.filter(([path = '']) => !existsSync(join('deploy', path)))).toEqual([]);
    const provider = readFileSync('deploy/grafana/provisioning/dashboards/toolyard.yaml', 'utf8');
    expect(provider).toContain('path: /etc/toolyard/dashboards');
    expect(readFileSync('deploy/grafana/provisioning/datasources/prometheus.yaml', 'utf8')).toContain('url: http://prometheus:9090');
  });
});

/** Said better by a neighbour on the same board, or only of use to alerts. */
const HIDDEN = [
  'toolyard_tail_gaps_repaired_total',
  'toolyard_tail_events_repaired_total',
  // Only installations with sub-agents have them; their calls are among all others.
  'toolyard_agent_turns_total',
  'toolyard_agent_tokens_total',
  'toolyard_agent_turn_seconds',
  // Only installations with webhooks have it; `GET /v1/webhooks` counts what waits and what was given up.
  'toolyard_webhook_deliveries_total',
  'toolyard_sockets_opened_total',
  'toolyard_sockets_closed_total',
  'toolyard_config_refused',
  // A point in time, which says something beside the days of the tenants alone.
  'toolyard_archive_oldest_timestamp_seconds',
  // Metric of the exhausted quota; `toolyard_calls_ended_total` has the calls by code.
  'toolyard_quota_refusals_total',
  'toolyard_queue_active_calls',
  'toolyard_redis_memory_fragmentation_ratio',
  'toolyard_event_loop_delay_median_seconds',
  'toolyard_event_loop_delay_max_seconds',
  'toolyard_process_heap_used_bytes',
  'toolyard_process_start_time_seconds',
  'toolyard_build_info',
];
