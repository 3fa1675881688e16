import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCli } from '../support/cli.js';
import { freePort } from '../support/free-port.mjs';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('toolyard doctor', () => {
  let toolyard: TestCluster;
  beforeAll(async () => {
    toolyard = await startTestCluster({ lists: true });
  });
  afterAll(() => toolyard?.close());

  it('reports no fault in a healthy installation', async () => {
    const { code, out } = await startCli(['doctor', '--json'], {
      url: toolyard.gateways[0]!.url,
      env: { REDIS_URL: toolyard.redis.url },
    }).ended();
    const checks = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { what: string; verdict: string });
    expect(
      checks.filter(({ verdict, what }) => verdict !== 'ok' && !what.startsWith('sandbox') && !what.endsWith('maxmemory-policy')),
    ).toEqual([]);
    expect(checks.map(({ what }) => what)).toEqual(
      expect.arrayContaining([
        'gateway',
        'key',
        'live events',
        'versions',
        'releases',
        'clock of redis',
        'redis appendfsync',
        'REDIS_URL appendonly',
        'pool shell',
      ]),
    );
    expect(code).toBe(checks.some(({ verdict }) => verdict === 'fail') ? 1 : 0);
  });

  it('names faults in toolyard doctor, with the fix', async () => {
    const bare = await startTestCluster({
      workers: 0,
      redisSettings: ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'allkeys-lru'],
    });
    try {
      const { code, out } = await startCli(['doctor'], { url: bare.gateways[0]!.url }).ended();
      expect(code).toBe(1);
      for (const finding of [
        /fail redis appendonly .*\n.*appendonly yes/,
        /fail redis maxmemory-policy .*\n.*noeviction/,
        /fail pool shell .*\n.*WORKER_POOLS=shell/,
      ])
        expect(out).toMatch(finding);
    } finally {
      await bare.close();
    }
    const away = await startCli(['doctor'], { url: `http://127.0.0.1:${await freePort()}` }).ended();
    expect(away).toMatchObject({ code: 1, out: expect.stringMatching(/fail gateway .*ECONNREFUSED/) });
  });
});
