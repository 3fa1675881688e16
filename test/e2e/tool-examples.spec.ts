import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '#client';
import { TEST_KEY, startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Its example reads a page of the internet. */
const OUTSIDE = 'web_fetch';

let toolyard: TestCluster;
let client: ToolyardClient;

beforeAll(async () => {
  toolyard = await startTestCluster();
  client = new ToolyardClient({ baseUrl: toolyard.gateways[0]!.url, apiKey: TEST_KEY });
});
afterAll(() => toolyard.close());

describe('the examples of the catalog', () => {
  it('succeed in an empty workspace, after the calls that they name as their setup', async () => {
    const tools = await client.tools.list();
    expect(tools.length).toBeGreaterThan(8);
    for (const { name, examples } of tools.filter((tool) => tool.name !== OUTSIDE)) {
      for (const [index, { title, arguments: args, setup = [] }] of examples.entries()) {
        const sessionId = `${name}-${index}`;
        for (const step of setup) expect(await client.calls.run({ ...step, sessionId })).toMatchObject({ ok: true });
        const { ok, error, note } = await client.calls.run({ tool: name, arguments: JSON.stringify(args), sessionId });
        expect({ name, title, ok, error, note }).toEqual({ name, title, ok: true, error: undefined, note: undefined });
      }
    }
  });
});
