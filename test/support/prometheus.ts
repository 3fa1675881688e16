import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { eventually } from './eventually.js';
import { freePort } from './free-port.mjs';

const Rules = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.object({ severity: z.enum(['critical', 'warning', 'info']) }),
          annotations: z.object({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
});
export type AlertRule = z.output<typeof Rules>['groups'][number]['rules'][number];

const GrafanaDashboard = z.object({
  uid: z.string(),
  title: z.string(),
  panels: z.array(
    z.object({ id: z.number(), type: z.string(), title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) }),
  ),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string(), query: z.unknown() })) }),
});
export type Board = z.output<typeof GrafanaDashboard>;

const Answer = z.object({
  status: z.string(),
  error: z.string().optional(),
  data: z
    .object({ result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })) })
    .optional(),
});
const Targets = z.object({ data: z.object({ activeTargets: z.array(z.object({ scrapePool: z.string(), health: z.string() })) }) });
const Firing = z.object({
  data: z.object({
    alerts: z.array(
      z.object({ state: z.string(), labels: z.record(z.string(), z.string()), annotations: z.record(z.string(), z.string()) }),
    ),
  }),
});

export function alertRules(): AlertRule[] {
  return Rules.parse(parse(readFileSync('deploy/prometheus/alerts.yaml', 'utf8'))).groups.flatMap(({ rules }) => rules);
}

/** The boards on metrics; that of the history asks PostgreSQL. */
export function grafanaDashboards(): Board[] {
  const folder = 'deploy/grafana/dashboards';
  const files = readdirSync(folder).filter((file) => file !== 'history.json');
  return files.map((file) => GrafanaDashboard.parse(JSON.parse(readFileSync(join(folder, file), 'utf8'))));
}

/** The board's expressions as Grafana would send them with every variable at All. */
export function expressionsOf(board: Board): string[] {
  return board.panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '10s').replaceAll('"$tool"', '".*"').replaceAll('"$pool"', '".*"')),
  );
}

/** Alerts that are to fire sooner: the seconds that take the place of the number their expression ends with. */
export type AlertThresholds = Readonly<Record<string, number>>;

/** The deployed rules without their delay (`for`), with the thresholds that `sooner` names. */
function immediateRules(sooner: AlertThresholds): string {
  const rules = alertRules().map(({ alert, expr, labels, annotations }) => {
    const seconds = sooner[alert];
    return { alert, labels, annotations, expr: seconds === undefined ? expr : expr.replace(/> [\d.]+$/, `> ${seconds}`) };
  });
  // YAML takes JSON.
  return JSON.stringify({ groups: [{ name: 'Impatient', rules }] });
}

/** A real Prometheus on loopback that scrapes and evaluates once a second; alerts fire without their delay. */
export class Prometheus {
  private constructor(
    private readonly url: string,
    private readonly stop: () => Promise<void>,
  ) {}

  static async start(jobs: Readonly<Record<string, readonly string[]>>, sooner: AlertThresholds = {}): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'toolyard-prometheus-'));
    const scrapes = Object.entries(jobs).map(([job, urls]) => ({
      job_name: job,
      static_configs: [{ targets: urls.map((url) => new URL(url).host) }],
    }));
    const config = {
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [join(folder, 'alerts.yaml')],
      scrape_configs: scrapes,
    };
    writeFileSync(join(folder, 'prometheus.yaml'), JSON.stringify(config));
    writeFileSync(join(folder, 'alerts.yaml'), immediateRules(sooner));
    const port = await freePort();
    const args = [
      `--config.file=${folder}/prometheus.yaml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const child = spawn('prometheus', [...args, '--log.level=error'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += String(chunk)));
    child.on('error', (error) => (said += `prometheus is missing. Install it: apt-get install prometheus (${error.message})`));
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const prometheus = new Prometheus(`http://127.0.0.1:${port}`, async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    });
    await eventually(async () => {
      if (child.exitCode !== null || said.includes('is missing')) throw new Error(`prometheus ended:\n${said}`);
      return (await fetch(`${prometheus.url}/-/ready`).catch(() => undefined))?.ok;
    }, 'prometheus to be ready');
    return prometheus;
  }

  /** The instant vector of an expression. Rejects with what Prometheus says about a wrong one. */
  async query(expr: string): Promise<{ labels: Record<string, string>; value: number }[]> {
    const answer = Answer.parse(await this.get('query', { query: expr }));
    if (answer.data === undefined) throw new Error(`${expr}: ${answer.error}`);
    return answer.data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
  }

  async targets(): Promise<string[]> {
    const { data } = Targets.parse(await this.get('targets', {}));
    return data.activeTargets.map(({ scrapePool, health }) => `${scrapePool} ${health}`).sort();
  }

  /** The alerts that fire, by name, with their summaries. */
  async firing(): Promise<Map<string, string>> {
    const { data } = Firing.parse(await this.get('alerts', {}));
    const firing = data.alerts.filter(({ state }) => state === 'firing');
    return new Map(firing.map(({ labels, annotations }) => [labels['alertname'] ?? '', annotations['summary'] ?? '']));
  }

  close(): Promise<void> {
    return this.stop();
  }

  private async get(path: string, parameters: Record<string, string>): Promise<unknown> {
    return (await fetch(`${this.url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`)).json();
  }
}
