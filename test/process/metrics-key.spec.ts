import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const KEY = 'key-of-the-metrics-tests';

describe('a key for /metrics', () => {
  let toolyard: TestCluster;
  beforeAll(async () => {
    toolyard = await startTestCluster({ env: { METRICS_KEY: KEY } });
  });
  afterAll(() => toolyard.close());

  it('asks for the key for /metrics at gateway and worker, and at no other route of theirs', async () => {
    for (const { url } of [...toolyard.gateways, ...toolyard.workers]) {
      const scrape = async (headers: Record<string, string>) => {
        const answer = await fetch(`${url}/metrics`, { headers });
        return [answer.status, (await answer.text()).includes('toolyard_')];
      };
      for (const authorization of ['', KEY, `Bearer ${KEY}x`])
        expect([url, ...(await scrape({ authorization }))]).toEqual([url, 401, false]);
      expect([url, ...(await scrape({ authorization: `Bearer ${KEY}` }))]).toEqual([url, 200, true]);
      for (const path of ['/livez', '/readyz']) expect((await fetch(url + path)).status).toBe(200);
    }
  });
});
