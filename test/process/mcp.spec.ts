import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { CallPage } from '#contracts';
import { eventually } from '../support/eventually.js';
import { fixtureTool } from '../support/fixture-tools.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { connectMcp, REVISIONS, type ConnectOptions, type TestClient } from '../support/mcp-clients.js';

const SUBMITTER = 'key-that-submits-and-reads-only';
const structured = fixtureTool({ name: 'weather', tier: 'read_only', effect: 'pure', output: z.object({ degrees: z.number() }) });

describe.each(REVISIONS)('/mcp for clients of the SDK that speak revision %s, over two gateways', (revision) => {
  let gateways: [TestGateway, TestGateway];
  let client: TestClient;
  const clients: TestClient[] = [];
  const tenant = `mcp-${revision}`;
  const connect = async (options: Partial<ConnectOptions> = {}): Promise<TestClient> => {
    const connected = await connectMcp(revision, { key: BOOTSTRAP_KEY, urls: gateways.map(({ url }) => url), ...options });
    clients.push(connected);
    return connected;
  };
  const agent = () => gateways[0].agent;
  /** The call that a client made in this session. */
  const callIn = (sessionId: string, status = 'queued') =>
    eventually(async () => {
      const { body } = await agent().get<CallPage>(`/v1/calls?sessionId=${sessionId}&status=${status}`);
      return body.calls[0];
    }, `a call in the session ${sessionId}`);
  const inSession = (sessionId: string) => ({ meta: { 'io.toolyard/sessionId': sessionId } });

  beforeAll(async () => {
    const keys = [
      { id: 'all', key: BOOTSTRAP_KEY, tenant, scopes: ['submit', 'read', 'cancel', 'approve', 'admin'], agents: ['*'] },
      { id: 'submitter', key: SUBMITTER, tenant, scopes: ['submit', 'read'], tools: ['echo', 'shell'] },
    ] as never;
    const change = {
      keys,
      // Commands are asked about, everything else runs.
      defaultPosture: { autonomy: 'full', permissionMode: 'workspace-write' } as const,
      mcp: { answerMs: 300, taskMs: 200 },
    };
    gateways = await Promise.all([
      startTestGateway(tenant, { ...change, lists: true }, [structured]),
      startTestGateway(tenant, { ...change, lists: true }, [structured]),
    ]);
    client = await connect();
  });
  afterEach(async () => {
    for (const connected of clients.splice(1)) await connected.close();
  });
  afterAll(async () => {
    await client.close();
    await Promise.all(gateways.map((gateway) => gateway.close()));
  });

  it('explains to a client without progress how to ask again, and returns the result by call_result', async () => {
    const early = await client.call('echo', {}, inSession('long'));
    const { id } = await callIn('long');
    expect(early).toMatchObject({ isError: false, _meta: { 'io.toolyard/callId': id, 'io.toolyard/status': 'queued' } });
    expect(early.content[0]?.text).toContain(`call_result with {"callId":"${id}"}`);
    const waiting = client.call('call_result', { callId: id, waitMs: 20_000 });
    await gateways[1].run(id, 'late');
    expect((await waiting).content[0]?.text).toBe('late');
    expect(await client.call('call_result', { callId: 5 })).toMatchObject({ isError: true });
    const other = await connect({ key: SUBMITTER });
    expect((await other.call('call_result', { callId: id })).content[0]?.text).toContain('No call with the id');
  });

  it('answers tools/call with an error result for a tool with an output schema while its call continues', async () => {
    expect(await client.call('weather', {}, inSession('long-structured'))).toMatchObject({ isError: true });
  });

  it('waits in call_result for waitMs, also with progress', async () => {
    const early = await client.call('echo', {}, inSession('patient'));
    const callId = early._meta?.['io.toolyard/callId'];
    const result = await client.call('call_result', { callId, waitMs: 50 }, { onprogress: () => {} });
    expect(result).toMatchObject({ isError: false, _meta: { 'io.toolyard/callId': callId, 'io.toolyard/status': 'queued' } });
    await agent().request('POST', `/v1/calls/${String(callId)}/cancel`, {});
  });
});
