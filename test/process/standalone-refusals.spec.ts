import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { freePort } from '../support/free-port.mjs';
import { startRedisServer } from '../support/redis-server.mjs';
import { cleanUp, freshDirectory, spawnStandalone } from '../support/standalone.js';
import { withoutWaitingLines } from '../support/waiting-lines.js';

afterEach(cleanUp);

/** Error output of a failing start, without the lines about waiting; the start must end with exit code 1 and without a stack trace. */
async function refusal(data: string, env: Record<string, string> = {}): Promise<string> {
  const app = await spawnStandalone(data, env);
  expect(await app.ended()).toEqual({ code: 1, signal: null });
  expect(app.output()).not.toMatch(/^\s+at /m);
  return withoutWaitingLines(app.output()).trim();
}

describe('npm start says in one sentence what to do when', () => {
  it('refuses npm start beside another Toolyard in the same directory, which continues', async () => {
    const data = freshDirectory();
    const first = await spawnStandalone(data);
    await first.up();
    expect(await refusal(data)).toBe(
      `Another Toolyard (process ${first.child.pid}) is running on ${data}. Stop it first, or set TOOLYARD_DATA to another directory.`,
    );
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  });

  it('refuses npm start if the port is in use, with advice', async () => {
    const server = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    try {
      expect(await refusal(freshDirectory(), { GATEWAY_PORT: String(port) })).toBe(
        `Port ${port} on 127.0.0.1 is in use. Stop the program that listens there, or set GATEWAY_PORT to another port.`,
      );
    } finally {
      server.close();
    }
  });

  it('refuses npm start if redis-server is missing, with advice', async () => {
    const empty = join(freshDirectory(), 'bin');
    mkdirSync(empty);
    const said = await refusal(freshDirectory(), { PATH: empty });
    expect(said).toContain('redis-server is missing. Install it with `apt-get install redis-server`');
    expect(said).toContain('brew install redis');
    expect(said).toContain('docker run');
    expect(said.split('\n')).toHaveLength(1);
  });

  it('refuses npm start if redis-server is too old, with advice', async () => {
    const bin = join(freshDirectory(), 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'redis-server'), '#!/bin/sh\necho "Redis server v=6.2.14 sha=0:0 malloc=libc bits=64 build=0"\n', {
      mode: 0o755,
    });
    symlinkSync('/bin/sh', join(bin, 'sh'));
    expect(await refusal(freshDirectory(), { PATH: bin })).toBe(
      'redis-server is version 6.2, but Toolyard needs 7.0 or newer. Install a newer one, or set REDIS_URL to a server that is.',
    );
  });

  it('refuses npm start if the data directory is not writable, with advice', async () => {
    const file = join(freshDirectory(), 'file');
    writeFileSync(file, '');
    expect(await refusal(join(file, 'below'))).toBe(
      `Cannot write to the data directory ${join(file, 'below')} (ENOTDIR). Make it writable for this user, or set TOOLYARD_DATA to another directory.`,
    );
  });

  it('refuses npm start if the data directory or the workspaces cannot be created, with advice', async () => {
    const advice = (variable: string) => `(ENOENT). Make it writable for this user, or set ${variable} to another directory.`;
    expect(await refusal('/proc/toolyard/data')).toBe(`Cannot write to the data directory /proc/toolyard/data ${advice('TOOLYARD_DATA')}`);
    expect(await refusal(freshDirectory(), { WORKSPACE_ROOT: '/proc/toolyard' })).toBe(
      `Cannot write to the workspace directory /proc/toolyard ${advice('WORKSPACE_ROOT')}`,
    );
  });

  it('refuses npm start with all wrong variables at once', async () => {
    const said = await refusal(freshDirectory(), {
      GATEWAY_PORT: '99999',
      WORKER_POOLS: 'read,bogus',
      LEASE_MS: 'soon',
      TOOLYARD_API_KEY: 'long-enough-for-a-key',
    });
    for (const name of ['GATEWAY_PORT', 'WORKER_POOLS', 'LEASE_MS']) expect(said).toContain(`${name}: `);
  });

  it('refuses npm start when settings of the projector are wrong, with the variables and their bounds', async () => {
    const data = freshDirectory();
    const said = await refusal(data, { HOT_WINDOW_MS: '20000', HOT_WINDOW_CALLS: '-1', CHECKPOINT_URL: 'nowhere', ARCHIVE_URL: '' });
    expect(said).toContain('The configuration is wrong:');
    expect(said).toContain('HOT_WINDOW_MS: expected whole milliseconds from 60000 (a minute) to 31536000000 (a year)');
    expect(said).toContain('HOT_WINDOW_CALLS: expected a whole number from 0 to 100000000');
    expect(said).toContain('CHECKPOINT_URL: ');
    expect(await refusal(data, { HOT_WINDOW_MS: 'soon' })).toContain('HOT_WINDOW_MS: expected whole milliseconds');
  });

  it('refuses npm start if the retention of the config file needs a missing database', async () => {
    const data = freshDirectory();
    const config = join(data, 'toolyard.yaml');
    mkdirSync(data, { recursive: true });
    writeFileSync(config, 'tenants:\n  one: { retention: { erasable: true } }\n');
    const said = await refusal(data, { TOOLYARD_CONFIG: config, ARCHIVE_URL: '' });
    expect(said).toContain('tenants.one.retention.erasable needs a database for the keys of calls');
  });

  it('refuses npm start when a hook has no secret to sign with, with the file, its line and the variable', async () => {
    const data = freshDirectory();
    const config = join(data, 'toolyard.yaml');
    mkdirSync(data, { recursive: true });
    writeFileSync(config, 'hooks:\n  - { name: audit, on: after, url: https://audit.example.com/, secretEnv: AUDIT_SECRET }\n');
    expect(await refusal(data, { TOOLYARD_CONFIG: config })).toBe(
      `The configuration is wrong:\n  ${config}:2: hooks.0.secretEnv: expected a variable of this process; AUDIT_SECRET is not set`,
    );
  });

  it('refuses npm start if the Redis of REDIS_URL does not answer, with advice', async () => {
    const said = await refusal(freshDirectory(), { REDIS_URL: `redis://:secret@127.0.0.1:${await freePort()}` });
    expect(said).toMatch(
      /^Cannot use the Redis of REDIS_URL \(.+\)\. Start it, or set .+\. Or unset REDIS_URL to let Toolyard start a private one\.$/,
    );
    expect(said).not.toContain('secret');
  });
});

describe('with REDIS_URL', () => {
  it('uses the Redis of REDIS_URL in npm start and starts none', async () => {
    const redis = await startRedisServer();
    try {
      const app = await spawnStandalone(freshDirectory(), { REDIS_URL: redis.url });
      await app.up();
      expect(() => app.redisPid()).toThrow('ENOENT');
      app.signal('SIGTERM');
      expect((await app.ended()).code).toBe(0);
    } finally {
      await redis.stop();
    }
  });
});
