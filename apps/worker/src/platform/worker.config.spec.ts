import { describe, expect, it } from '@jest/globals';
import { readWorkerConfig } from './worker.config.js';

describe('readWorkerConfig', () => {
  it('needs no settings of a worker: all pools with their usual slots', () => {
    const config = readWorkerConfig({});
    expect(config).toMatchObject({
      redisUrl: 'redis://127.0.0.1:6379',
      partitions: 16,
      host: '127.0.0.1',
      port: 7412,
      leaseMs: 30_000,
      drainMs: 25_000,
      toolEnv: {},
      pools: [
        { pool: 'read', slots: 64 },
        { pool: 'write', slots: 16 },
        { pool: 'shell', slots: 8 },
        { pool: 'net', slots: 32 },
        { pool: 'agent', slots: 16 },
      ],
    });
    expect(readWorkerConfig({}).id).not.toBe(config.id);
  });

  it('reads pools, slots and the port of a worker, and turns the server off', () => {
    expect(readWorkerConfig({ WORKER_POOLS: 'shell, read', WORKER_CONCURRENCY: 'read=2', WORKER_PORT: '0' })).toMatchObject({
      pools: [
        { pool: 'shell', slots: 8 },
        { pool: 'read', slots: 2 },
      ],
      port: 0,
    });
    expect(readWorkerConfig({ WORKER_PORT: 'off' }).port).toBe('off');
    expect(readWorkerConfig({ WORKER_PORT: '', LEASE_MS: '' })).toMatchObject({ port: 7412, leaseMs: 30_000 });
  });

  it('passes to tools only the allowed variables that are set [PP-103]', () => {
    expect(readWorkerConfig({ PATH: '/bin', LANG: 'C', SECRET: 'x', REDIS_URL: 'redis://u:p@h' }).toolEnv).toEqual({
      PATH: '/bin',
      LANG: 'C',
    });
    expect(readWorkerConfig({ PATH: '/bin', MINE: '1', TOOL_ENV_ALLOWLIST: 'MINE,OTHER' }).toolEnv).toEqual({ MINE: '1' });
  });

  it('names every fault of the settings of a worker at once', () => {
    const wrong = () =>
      readWorkerConfig({
        WORKER_POOLS: 'reed',
        WORKER_CONCURRENCY: 'read=0,shell',
        WORKER_PORT: 'http',
        LEASE_MS: 'soon',
        LOG_LEVEL: 'loud',
        WORKER_ID: 'a b',
      });
    for (const name of ['WORKER_POOLS', 'WORKER_CONCURRENCY', 'WORKER_PORT', 'LEASE_MS', 'LOG_LEVEL', 'WORKER_ID'])
      expect(wrong).toThrow(name);
  });

  it('refuses slots for a pool that is not served', () => {
    expect(() => readWorkerConfig({ WORKER_POOLS: 'read', WORKER_CONCURRENCY: 'shell=2' })).toThrow(/WORKER_CONCURRENCY: names shell/);
  });
});
