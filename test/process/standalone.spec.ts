import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Call } from '#contracts';
import { createRedis } from '#redis';
import { startCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.mjs';
import { cleanUp, echo, freshDirectory, isRunning, read, spawnStandalone, submit, type StandaloneProcess } from '../support/standalone.js';

afterAll(cleanUp);

async function start(data: string, env: Record<string, string> = {}): Promise<StandaloneProcess> {
  const app = await spawnStandalone(data, env);
  await app.up();
  return app;
}

/** Sends what the line says: the shell takes it apart, as it does for curl, which this machine may not have (`test/deploy` runs curl itself). */
function asCurl(line: string): Promise<Response> {
  const { stdout } = spawnSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${line}`], { encoding: 'utf8' });
  const words = stdout.split('\0').slice(0, -1);
  const valuesOf = (option: string) => words.filter((_word, at) => words[at - 1] === option);
  const headers = valuesOf('-H').map((header): [string, string] => [
    header.split(': ', 1)[0] ?? '',
    header.slice(header.indexOf(': ') + 2),
  ]);
  return fetch(words.find((word) => word.startsWith('http')) ?? '', { method: 'POST', headers, body: valuesOf('-d').join('&') });
}

describe('npm start', () => {
  let app: StandaloneProcess;
  beforeAll(async () => {
    app = await start(join(freshDirectory(), 'made by the first start'));
  });

  it('starts npm start on an empty directory and prints a command that makes the first call unchanged', async () => {
    expect(statSync(join(app.data, 'key')).mode & 0o777).toBe(0o600);
    expect(statSync(app.data).mode & 0o777).toBe(0o700);

    const call = Call.parse(await (await asCurl(app.firstCall())).json());
    expect([call.status, call.outcome]).toEqual(['ended', 'completed']);
    expect(JSON.stringify(call.result)).toContain('hello');
    expect(app.output()).toMatch(/^ +Posture +full, danger-full-access: calls run without approval/m);
  });

  it('serves the metrics of gateway and worker as one', async () => {
    const value = async (metric: string) => {
      const text = await (await fetch(`${app.url}/metrics`)).text();
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${metric} `))
          ?.split(' ')[1] ?? 0,
      );
    };
    const metrics = [
      'toolyard_attempts_started_total{pool="read",cause="first"}',
      'toolyard_calls_submitted_total{tool="echo",pool="read"}',
    ];
    const before = await Promise.all(metrics.map(value));
    await submit(app, echo('measured'));
    expect(await Promise.all(metrics.map(value))).toEqual(before.map((count) => count + 1));
    expect(await value('toolyard_worker_slots{pool="read"}')).toBe(64);
  });

  it('sends Redis at most 40 commands a second when idle', async () => {
    const redis = createRedis(`unix://${join(app.data, 'redis.sock')}`);
    // Includes commands of scripts. A busy machine only lowers the rate.
    const commands = async () =>
      [...(await redis.info('commandstats')).matchAll(/:calls=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
    const [worker = ''] = await redis.zrange('workers', '0', '-1');
    const heartbeat = async (before: string) => {
      let own = 0;
      const after = await eventually(async () => {
        own += 1;
        const status = (await redis.get(`worker:${worker}`)) ?? '';
        return status === before ? '' : status;
      }, 'a heartbeat of the worker');
      return { after, own };
    };
    let { after: last } = await heartbeat('');
    const [startedAt, before] = [performance.now(), await commands()];
    let own = 1;
    for (let beats = 0; beats < 10; beats += 1) {
      const next = await heartbeat(last);
      [last, own] = [next.after, own + next.own];
    }
    const sent = (await commands()) - before - own;
    redis.disconnect();
    expect(sent / ((performance.now() - startedAt) / 1_000)).toBeLessThan(40);
  });

  it('finishes the running call after Ctrl-C of npm start, then stops everything; the next start has key and calls', async () => {
    const [key, redis] = [app.key(), app.redisPid()];
    const kept = await submit(app, echo('kept'));
    const call = await submit(app, { tool: 'shell', arguments: { command: 'sleep 1; echo finished' } }, 0);
    await eventually(async () => (await read(app, call.id, 0)).status !== 'queued', 'the call to run');
    app.signal('SIGINT');
    expect(await app.ended()).toEqual({ code: 0, signal: null });
    expect(app.output()).toMatch(/Stopped\. No call was left open\.\n$/);
    expect(isRunning(redis)).toBe(false);
    expect(existsSync(join(app.data, 'lock'))).toBe(false);

    const again = await start(app.data);
    expect((await read(again, call.id)).outcome).toBe('completed');
    expect(again.key()).toBe(key);
    expect(await read(again, kept.id)).toEqual(kept);
  });
});

describe('npm start with a posture in config file and environment', () => {
  let app: StandaloneProcess;
  let broken = '';
  beforeAll(async () => {
    const data = freshDirectory();
    const file = join(data, 'toolyard.yaml');
    const tenants = 'tenants: { acme: { posture: { autonomy: read_only }, agents: { ci: { posture: { autonomy: full } } } } }';
    broken = `http://127.0.0.1:${await freePort()}/mcp`;
    const sources = `sources: [{ name: broken, kind: mcp, url: '${broken}' }]`;
    writeFileSync(file, `defaults: { posture: { autonomy: supervised } }\n${tenants}\n${sources}\n`);
    app = await start(data, { TOOLYARD_CONFIG: file, DEFAULT_PERMISSION_MODE: 'workspace-write', LOG_LEVLE: 'info' });
  });

  it('asks before commands by a posture in config file and environment', async () => {
    expect(app.output()).toMatch(/^ +Posture +supervised, workspace-write$/m);
    expect(app.output()).toMatch(/^ +tenant acme: read_only, workspace-write\n +tenant acme, agent ci: full, workspace-write$/m);
    expect(app.output()).toContain('The variable LOG_LEVLE is not known: did you mean LOG_LEVEL?');
    expect((await submit(app, { tool: 'shell', arguments: { command: 'echo hello' } }, 0)).status).toBe('waiting_approval');
  });

  it('names a source that fails and the reason at the start, in the log once, in the doctor and in the list', async () => {
    const reason = `Connection refused at ${broken}: is the server running?`;
    expect(app.output()).toContain(`\n  Sources     1 source, 1 failing\n              broken: ${reason}\n`);
    expect(app.output().split('source broken fails').length).toBe(2);
    const key = app.key();
    const { code, out } = await startCli(['doctor'], { url: app.url, env: { TOOLYARD_API_KEY: key } }).ended();
    expect([code, out]).toEqual([1, expect.stringContaining(`fail source broken            ${reason}`)]);
    const listed = await startCli(['sources', 'list', 'broken'], { url: app.url, env: { TOOLYARD_API_KEY: key } }).ended();
    expect(listed.out).toContain(reason);
  });

  it('treats a signal that npm sends twice as one, and lists what continues later', async () => {
    app.signal('SIGINT');
    app.signal('SIGINT');
    expect(await app.ended()).toEqual({ code: 0, signal: null });
    expect(app.output()).toMatch(/Stopped, nothing lost: 1 call goes on at the next start\.\n$/);
  });
});

describe('npm start on a path that is too long for a socket', () => {
  let app: StandaloneProcess;
  beforeAll(async () => {
    app = await start(join(freshDirectory(), 'x'.repeat(120)));
  });

  it('uses a loopback port for Redis on a path that is too long for a socket', async () => {
    expect(app.output()).toMatch(/AOF always \(redis:\/\/127\.0\.0\.1:\d+\)/);
    expect((await submit(app, echo('hello'))).outcome).toBe('completed');
  });

  it('continues npm start when its output is closed, as after a closed terminal, and stops on a signal', async () => {
    app.child.stdout?.destroy();
    app.child.stderr?.destroy();
    expect((await submit(app, echo('unheard'))).outcome).toBe('completed');
    // The line about the stop is the first that cannot be written.
    app.signal('SIGTERM');
    expect(await app.ended()).toEqual({ code: 0, signal: null });
  });
});
