import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { programOf } from '../support/app-program.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.mjs';

describe.each(['gateway', 'worker'] as const)('a %s that is started before its Redis', (app) => {
  it('prints what a process waits for that is started before its Redis, and ends it at once on a signal', async () => {
    const env = {
      ...process.env,
      REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
      GATEWAY_PORT: '0',
      WORKER_PORT: '0',
      TOOLYARD_API_KEY: 'a-key-for-a-gateway-that-waits',
    };
    const child = spawn(process.execPath, [programOf(app)], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (data: Buffer) => (said += String(data)));
    const ended = once(child, 'exit');
    try {
      await eventually(() => said.includes('\n') || child.exitCode !== null, 'a word');
      expect(said).toMatch(/^Redis does not answer yet \(connect ECONNREFUSED 127\.0\.0\.1:\d+\); waiting for it up to 15 s\.\n$/);
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
      expect(said.split('\n')).toHaveLength(2);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
