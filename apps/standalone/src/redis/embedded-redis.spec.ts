import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createRedis } from '#redis';
import { eventually } from '../../../../test/support/eventually.js';
import { openDataDirectory, type DataDirectory } from '../data/data-directory.js';
import { processIdentity } from '../data/process-identity.js';
import { startEmbeddedRedis, type EmbeddedRedis } from './embedded-redis.js';
import { pickEndpoint } from './redis-endpoint.js';

let path = '';
let directory: DataDirectory;
let started: EmbeddedRedis[] = [];
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'toolyard private '));
  directory = openDataDirectory(path);
});
afterEach(async () => {
  await Promise.all(started.map((redis) => redis.stop()));
  started = [];
  rmSync(path, { recursive: true, force: true });
});

async function start(tell: (line: string) => void = () => {}): Promise<EmbeddedRedis> {
  const redis = await startEmbeddedRedis(directory, tell);
  started.push(redis);
  return redis;
}

async function onClient<T>(url: string, use: (client: ReturnType<typeof createRedis>) => Promise<T>): Promise<T> {
  const client = createRedis(url);
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

describe('the private Redis', () => {
  it('answers by the private Redis on a socket that only this user can open, also under a path with a space', async () => {
    const redis = await start();
    expect(redis.url).toBe(`unix://${encodeURI(directory.redisSocket)}`);
    expect(await onClient(redis.url, (client) => client.ping())).toBe('PONG');
  });

  it('preserves acknowledged writes of the private Redis after a kill, and reports its restart', async () => {
    const lines: string[] = [];
    const redis = await start((line) => lines.push(line));
    await onClient(redis.url, async (client) => {
      await client.set('kept', 'yes');
      process.kill(redis.pid ?? 0, 'SIGKILL');
      await eventually(() => lines.length > 0, 'the restart to be reported');
      expect(await client.get('kept')).toBe('yes');
    });
  });

  it('stops the private Redis with its data on disk and leaves no process; stop may be called twice', async () => {
    const redis = await start();
    await onClient(redis.url, (client) => client.set('kept', 'yes'));
    const pid = redis.pid ?? 0;
    await Promise.all([redis.stop(), redis.stop()]);
    expect(processIdentity(pid)).toBeUndefined();
    const again = await start();
    expect(await onClient(again.url, (client) => client.get('kept'))).toBe('yes');
  });

  it('touches no process that reuses the pid of an old Redis', async () => {
    const innocent = spawn('sleep', ['60'], { stdio: 'ignore' });
    writeFileSync(directory.redisPid, String(innocent.pid));
    await start();
    expect(processIdentity(innocent.pid ?? 0)).toBeDefined();
    expect(Number(readFileSync(directory.redisPid, 'utf8'))).not.toBe(innocent.pid);
    innocent.kill('SIGKILL');
  });

  it('reports the log of a Redis that fails to start, and leaves no files', async () => {
    writeFileSync(join(directory.redis, 'appendonlydir'), 'a file where Redis wants a directory');
    await expect(startEmbeddedRedis(directory, () => {})).rejects.toThrow(/^Redis did not start \(exit code 1\): .*appendonlydir/);
  });
});

describe('pickEndpoint', () => {
  it('uses a free loopback port if the path of the socket is too long', async () => {
    const endpoint = await pickEndpoint(`/${'x'.repeat(110)}/redis.sock`);
    expect(endpoint.url).toMatch(/^redis:\/\/127\.0\.0\.1:\d+$/);
    expect(endpoint.settings).toEqual(['--port', new URL(endpoint.url).port, '--bind', '127.0.0.1']);
  });
});
