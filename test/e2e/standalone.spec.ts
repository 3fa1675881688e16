import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Call } from '#contracts';
import { eventually } from '../support/eventually.js';
import { cleanUp, freshDirectory, isRunning, spawnStandalone, type StandaloneProcess } from '../support/standalone.js';

afterEach(cleanUp);

async function submit(app: StandaloneProcess, body: unknown, wait = 10): Promise<Call> {
  const answer = await fetch(`${app.url}/v1/calls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.key()}`, 'content-type': 'application/json', prefer: `wait=${wait}` },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  return Call.parse(await answer.json());
}

async function read(app: StandaloneProcess, callId: string, wait = 10): Promise<Call> {
  const answer = await fetch(`${app.url}/v1/calls/${callId}?wait=${wait}`, { headers: { authorization: `Bearer ${app.key()}` } });
  return Call.parse(await answer.json());
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

const echo = (text: string) => ({ tool: 'echo', arguments: { text } });

describe('npm start', () => {
  it('comes up on an empty directory and prints a line that makes the first call as it stands', async () => {
    const app = await spawnStandalone(join(freshDirectory(), 'made by the first start'));
    await app.up();
    expect(statSync(join(app.data, 'key')).mode & 0o777).toBe(0o600);
    expect(statSync(app.data).mode & 0o777).toBe(0o700);

    const call = Call.parse(await (await asCurl(app.firstCall())).json());
    expect([call.status, call.outcome]).toEqual(['ended', 'completed']);
    expect(JSON.stringify(call.result)).toContain('hello');
    expect(app.output()).toMatch(/^ +Posture +full, danger-full-access: calls run without approval/m);
  });

  it('asks before commands when config file and environment say so', async () => {
    const data = freshDirectory();
    const file = join(data, 'toolyard.yaml');
    writeFileSync(file, 'defaults: { posture: { autonomy: supervised } }\n');
    const app = await spawnStandalone(data, { TOOLYARD_CONFIG: file, DEFAULT_PERMISSION_MODE: 'workspace-write' });
    await app.up();
    expect(app.output()).toMatch(/^ +Posture +supervised, workspace-write$/m);
    expect((await submit(app, { tool: 'shell', arguments: { command: 'echo hello' } }, 0)).status).toBe('waiting_approval');
  });

  it('serves what gateway and worker measure as one', async () => {
    const app = await spawnStandalone(freshDirectory());
    await app.up();
    await submit(app, echo('measured'));
    const metrics = await (await fetch(`${app.url}/metrics`)).text();
    expect(metrics).toContain('toolyard_worker_slots{pool="read"} 64');
    expect(metrics).toContain('toolyard_attempts_started_total{pool="read",cause="first"} 1');
    expect(metrics).toContain('toolyard_calls_submitted_total{tool="echo",pool="read"} 1');
  });

  it('continues when its output is closed, as after a closed terminal, and stops on a signal', async () => {
    const app = await spawnStandalone(freshDirectory());
    await app.up();
    app.child.stdout?.destroy();
    app.child.stderr?.destroy();
    expect((await submit(app, echo('unheard'))).outcome).toBe('completed');
    // The word about the stop is the first that cannot be said.
    app.signal('SIGTERM');
    expect(await app.ended()).toEqual({ code: 0, signal: null });
  });

  it('keeps key and calls over a restart', async () => {
    const data = freshDirectory();
    const first = await spawnStandalone(data);
    await first.up();
    const key = first.key();
    const call = await submit(first, echo('kept'));
    first.signal('SIGTERM');
    expect(await first.ended()).toEqual({ code: 0, signal: null });

    const second = await spawnStandalone(data);
    await second.up();
    expect(second.key()).toBe(key);
    expect(await read(second, call.id)).toEqual(call);
  });

  it('uses a loopback port for Redis where the path is too long for a socket', async () => {
    const app = await spawnStandalone(join(freshDirectory(), 'x'.repeat(120)));
    await app.up();
    expect(app.output()).toMatch(/AOF always \(redis:\/\/127\.0\.0\.1:\d+\)/);
    expect((await submit(app, echo('hello'))).outcome).toBe('completed');
  });
});

describe('Ctrl-C', () => {
  it('lets the running call end, then stops everything and leaves no process and no lock', async () => {
    const app = await spawnStandalone(freshDirectory());
    await app.up();
    const redis = app.redisPid();
    const call = await submit(app, { tool: 'shell', arguments: { command: 'sleep 1; echo finished' } }, 0);
    await eventually(async () => (await read(app, call.id, 0)).status === 'running', 'the call to run');
    app.signal('SIGINT');
    expect(await app.ended()).toEqual({ code: 0, signal: null });
    expect(isRunning(redis)).toBe(false);
    expect(existsSync(join(app.data, 'lock'))).toBe(false);

    const again = await spawnStandalone(app.data);
    await again.up();
    expect((await read(again, call.id)).outcome).toBe('completed');
  });

  it('takes a signal that npm doubles for one', async () => {
    const app = await spawnStandalone(freshDirectory());
    await app.up();
    app.signal('SIGINT');
    app.signal('SIGINT');
    expect(await app.ended()).toEqual({ code: 0, signal: null });
  });

  it('exits at once when pressed again, and Redis goes too', async () => {
    const app = await spawnStandalone(freshDirectory());
    await app.up();
    const redis = app.redisPid();
    const call = await submit(app, { tool: 'shell', arguments: { command: 'sleep 20' } }, 0);
    await eventually(async () => (await read(app, call.id, 0)).status === 'running', 'the call to run');
    const pressed = performance.now();
    app.signal('SIGINT');
    await eventually(
      () => {
        if (performance.now() - pressed > 1_000) app.signal('SIGINT');
        return app.child.exitCode !== null;
      },
      'the second Ctrl-C to end it',
      5_000,
    );
    expect(await app.ended()).toEqual({ code: 130, signal: null });
    await eventually(() => !isRunning(redis), 'Redis to end');
  });
});

describe('when things die', () => {
  it('starts Redis again when it is killed, and calls go on with nothing lost', async () => {
    const app = await spawnStandalone(freshDirectory());
    await app.up();
    const before = await submit(app, echo('before'));
    const redis = app.redisPid();
    process.kill(redis, 'SIGKILL');
    await eventually(() => app.output().includes('restarting it'), 'the message about the restart');
    const after = await eventually(() => submit(app, echo('after')).catch(() => undefined), 'a call after the restart');
    expect(after.outcome).toBe('completed');
    expect(await read(app, before.id)).toEqual(before);
    expect(app.redisPid()).not.toBe(redis);
  });

  it('takes over the directory and ends the Redis of a Toolyard that was killed', async () => {
    const data = freshDirectory();
    const killed = await spawnStandalone(data);
    await killed.up();
    const call = await submit(killed, echo('kept'));
    const orphan = killed.redisPid();
    killed.signal('SIGKILL');
    await killed.ended();
    expect(isRunning(orphan)).toBe(true);

    const next = await spawnStandalone(data);
    await next.up();
    expect(isRunning(orphan)).toBe(false);
    expect(await read(next, call.id)).toEqual(call);
  });
});
