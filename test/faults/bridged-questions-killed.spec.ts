import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Call, SourcePage } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { serveWeb, type WebServer } from '../support/serve-web.js';
import { startTestCluster, TEST_KEY, type AppProcess, type TestCluster } from '../support/test-cluster.js';

const FIXTURE = resolve('test/support/asking-mcp-server.fixture.mjs');
const BRANCH = { type: 'object' as const, properties: { branch: { type: 'string' as const } }, required: ['branch'] };

/** Server of revision 2026-07-28, which asks by its result: any worker may continue. `done`: called for each call that it finishes. */
function modernServer(done: () => void): McpServer {
  const server = new McpServer({ name: 'asking', version: '1.0.0' });
  server.registerTool('ask', { inputSchema: z.object({}) }, (_args, { mcpReq }) => {
    const answer = mcpReq.inputResponses?.['one'];
    if (answer === undefined)
      return inputRequired({
        inputRequests: { one: inputRequired.elicit({ message: 'Which branch?', requestedSchema: BRANCH }) },
        requestState: 'state',
      });
    done();
    return { content: [{ type: 'text' as const, text: JSON.stringify(answer) }] };
  });
  return server;
}

describe('a bridged elicitation while everything but Redis is killed (SIGKILL)', () => {
  let toolyard: TestCluster;
  let http: WebServer;
  let agent: Agent;
  let finished = 0;

  beforeAll(async () => {
    const handler = createMcpHandler(() => modernServer(() => (finished += 1)));
    http = await serveWeb((request) => handler.fetch(request));
    const sources = [
      { name: 'modern', kind: 'mcp', url: `${http.url}/mcp` },
      // Source of revision 2025-11-25: waits on the connection of the worker that began the call.
      { name: 'legacy', kind: 'mcp', command: [process.execPath, FIXTURE], paths: [FIXTURE] },
    ];
    toolyard = await startTestCluster({ gateways: 2, config: { sources }, env: { LEASE_MS: '5000' } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '', TEST_KEY);
    const listed = async () => (await agent.get<SourcePage>('/v1/sources')).body.sources;
    await eventually(async () => (await listed()).every(({ status }) => status === 'ok'), 'both servers to be read');
  });
  afterAll(async () => {
    await toolyard?.close();
    http?.close();
  });

  const asked = async (tool: string): Promise<Call> => {
    const { id } = await agent.accepted(tool, {});
    return eventually(async () => {
      const { body } = await agent.get(`/v1/calls/${id}`);
      if (body.status === 'ended') throw new Error(`the call ended: ${JSON.stringify(body)}`);
      return body.status === 'waiting_input' ? body : undefined;
    }, `the question of ${tool}`);
  };
  const kill = async (apps: AppProcess[]) => {
    const killed = apps.splice(0);
    for (const app of killed) app.signal('SIGKILL');
    await Promise.all(killed.map((app) => app.ended()));
  };
  const give = (id: string) => agent.request('POST', `/v1/calls/${id}/input`, { value: { branch: 'next' } });
  const typesOf = async (id: string) => (await agent.events(id)).map(({ type }) => type);
  const count = (types: readonly string[], type: string) => types.filter((it) => it === type).length;

  it('finishes a bridged elicitation once after worker and gateways were killed before and after the answer: revision 2026-07-28', async () => {
    const { id } = await asked('modern__ask');
    await Promise.all([kill(toolyard.workers), kill(toolyard.gateways)]);
    agent = new Agent((await toolyard.gateway()).url, TEST_KEY);
    expect((await agent.get(`/v1/calls/${id}`)).body).toMatchObject({ status: 'waiting_input', waiting: { input: { declinable: true } } });
    // No worker lives: the answer is in the log.
    expect((await give(id)).status).toBe(200);
    await kill(toolyard.gateways);
    agent = new Agent((await toolyard.gateway()).url, TEST_KEY);
    await toolyard.worker();
    const call = await agent.ended(id);
    expect(call).toMatchObject({ outcome: 'completed', result: { content: [{ text: expect.stringContaining('"branch":"next"') }] } });
    const types = await typesOf(id);
    expect([finished, count(types, 'call.end'), count(types, 'call.input_given')]).toEqual([1, 1, 1]);
  });

  it('fails a bridged elicitation for good with its worker’s connection, without starting another: revision 2025-11-25', async () => {
    const { id } = await asked('legacy__ask');
    await kill(toolyard.workers);
    await toolyard.worker();
    expect((await give(id)).status).toBe(200);
    const call = await agent.ended(id);
    expect(call).toMatchObject({ outcome: 'failed', error: { code: 'tool_failed', retryable: false } });
    const types = await typesOf(id);
    expect([count(types, 'call.end'), count(types, 'call.input_requested')]).toEqual([1, 1]);
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });
});
