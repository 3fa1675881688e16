import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Problem, Quote, ToolDescriptor, WorkerStatus } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const SHELL = { tool: 'shell', arguments: { command: 'echo here' } };

/** The tests are steps of one story: the shell pool of a running installation, from refusing through running to gone. */
describe('a tool that no worker can run', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  beforeAll(async () => {
    toolyard = await startTestCluster({ workers: 0 });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    await Promise.all([
      toolyard.worker({ WORKER_POOLS: 'read' }),
      toolyard.worker({ WORKER_POOLS: 'shell', SANDBOX: 'none' }),
      // No bubblewrap is found there.
      toolyard.worker({ WORKER_POOLS: 'shell', SANDBOX_REQUIRED: 'shell', PATH: '/nowhere' }),
    ]);
  });
  afterAll(() => toolyard.close());

  const shell = async () => {
    const { body } = await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools');
    return body.tools.find(({ name }) => name === 'shell')?.available;
  };
  /** Sandboxes of the workers that serve the pool, by the name of the back end. */
  const sandboxes = async () => {
    const { body } = await agent.get<{ workers: WorkerStatus[] }>('/v1/workers');
    const shown = body.workers.flatMap(({ draining, sandbox }) => (draining || sandbox?.shell === undefined ? [] : [sandbox.shell]));
    return shown.sort((a, b) => a.backend.localeCompare(b.backend));
  };
  const forModels = async () => {
    const { body } = await agent.get<{ tools: { name: string }[] }>('/v1/tools?format=anthropic');
    return body.tools.map(({ name }) => name);
  };

  it('removes a tool from the catalog of models if its sandbox is off, or required and missing, with the reason for people [AV-12, PP-47, RP-10]', async () => {
    expect(await sandboxes()).toEqual([
      { backend: 'bubblewrap', ok: false, isolation: 'none', reason: expect.stringContaining('bwrap is not installed') },
      { backend: 'none', ok: false, isolation: 'none', reason: expect.stringContaining('SANDBOX switches') },
    ]);
    const reason =
      /^shell is not available: no worker of the pool shell runs commands \(.*(SANDBOX switches commands off|bwrap is not installed)/;
    expect(await shell()).toEqual({ ok: false, reason: expect.stringMatching(reason) });
    expect(await forModels()).not.toContain('shell');
    expect(await forModels()).toContain('echo');
  });

  it('refuses a tool that no worker can run as unavailable at every interface, with the reason and a result for the model', async () => {
    const refused = await eventually(async () => {
      const answer = await agent.request<Problem>('POST', '/v1/calls', SHELL);
      return answer.status === 503 ? answer : undefined;
    }, 'the gateway to know');
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(refused.body).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('SANDBOX'), result: { isError: true } });
    expect((await agent.get(`/v1/calls/${refused.body.callId}`)).body).toMatchObject({
      outcome: 'failed',
      error: { code: 'unavailable', retryable: true },
      decision: { effect: 'deny', reasons: [{ axis: 'facts', rule: 'readiness' }] },
    });
    const stream = await agent.stream();
    stream.send({ op: 'submit', id: 1, call: SHELL });
    expect((await stream.frame('error', 1)).problem.code).toBe('unavailable');
    stream.close();
    const { body: quote } = await agent.request<Quote>('POST', '/v1/calls:quote', SHELL);
    expect(quote).toMatchObject({ valid: true, approvalNeeded: false, decision: { effect: 'deny' } });
  });

  it('runs a refused tool as soon as a worker can, also with the Idempotency-Key of the call that was refused', async () => {
    const key = { 'idempotency-key': 'later', prefer: 'wait=60' };
    expect((await agent.request('POST', '/v1/calls', SHELL, key)).status).toBe(503);
    const refusing = toolyard.workers.splice(1);
    for (const worker of refusing) worker.signal('SIGTERM');
    await Promise.all(refusing.map((worker) => worker.ended()));
    await toolyard.worker({ WORKER_POOLS: 'shell', SANDBOX: 'host' });
    const { body } = await eventually(async () => {
      const answer = await agent.request('POST', '/v1/calls', SHELL, key);
      return answer.status === 503 ? undefined : answer;
    }, 'the gateway to know the new worker');
    expect(body).toMatchObject({ outcome: 'completed', result: { content: [{ type: 'text', text: 'here\n' }] } });
    expect(await shell()).toEqual({ ok: true });
    const open = { backend: 'host', ok: true, isolation: 'none', reason: expect.stringContaining('with the rights of the worker') };
    expect(await sandboxes()).toEqual([open]);
    expect(await forModels()).toContain('shell');
  });

  it('removes a tool from the catalog when its last worker stops, with the reason no_worker; calls wait for the next one [AV-18]', async () => {
    const last = toolyard.workers.at(-1);
    last?.signal('SIGTERM');
    await last?.ended();
    expect(await shell()).toEqual({ ok: false, reason: expect.stringMatching(/^no_worker: no live worker serves the pool shell/) });
    expect(await forModels()).not.toContain('shell');
    const { status, body } = await agent.submit('shell', SHELL.arguments);
    expect([status, body.status]).toEqual([202, 'queued']);
    await toolyard.worker({ WORKER_POOLS: 'shell', SANDBOX: 'host' });
    expect((await agent.ended(body.id)).outcome).toBe('completed');
    expect(await shell()).toEqual({ ok: true });
  });
});
