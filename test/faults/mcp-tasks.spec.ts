import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, TEST_KEY, type AppProcess, type TestCluster } from '../support/test-cluster.js';

const REVISION = '2026-07-28';
const SESSION = 'by-mcp';
/** Agent whose calls all require approval. */
const CAUTIOUS = 'asked-by-mcp';
/** Ends when the test says so. */
const WAITS = 'while [ ! -e go ]; do sleep 0.1; done; echo gone on';
const CAPABILITIES = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };

interface Task {
  readonly taskId: string;
  readonly status: string;
  readonly result?: { readonly content: readonly { readonly text: string }[]; readonly isError?: boolean };
}

/** Sends one request of revision 2026-07-28, like a client. */
async function ask({ url }: AppProcess, method: string, params: Record<string, unknown>, session = SESSION): Promise<Task> {
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': REVISION,
    'mcp-method': method,
    'mcp-name': String(params['name'] ?? params['taskId']),
  };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
    'io.toolyard/sessionId': session,
  };
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } };
  const { body } = await new Agent(url, TEST_KEY).request<{ result?: Task; error?: object }>('POST', '/mcp', message, headers);
  if (body.result === undefined) throw new Error(`${method} was refused: ${JSON.stringify(body.error)}`);
  return body.result;
}

/** A task of the tool `shell` that runs until `release`. */
async function begin(toolyard: TestCluster, gateway: AppProcess, session: string) {
  const { taskId } = await ask(gateway, 'tools/call', { name: 'shell', arguments: { command: WAITS } }, session);
  const isRunning = async () => (await new Agent(gateway.url).get(`/v1/calls/${taskId}`)).body.status === 'running';
  await eventually(isRunning, 'the start of the task');
  return {
    taskId,
    release: () => writeFileSync(join(toolyard.workspaceRoot, 'default', 'sessions', session, 'go'), ''),
    ended: () =>
      eventually(async () => {
        const task = await ask(gateway, 'tasks/get', { taskId }, session);
        return task.status === 'working' ? undefined : task;
      }, `the end of the task ${taskId}`),
    count: async (type: string) => (await new Agent(gateway.url).events(taskId)).filter((event) => event.type === type).length,
  };
}

describe('a gateway that is killed (SIGKILL) after it gave out a task', () => {
  let toolyard: TestCluster;
  let survivor: AppProcess;
  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 1, env: { MCP_TASK_MS: '0' } });
    survivor = toolyard.gateways[0] as AppProcess;
    const posture = { autonomy: 'full', permissionMode: 'prompt' };
    await new Agent(survivor.url).request('PUT', `/v1/sessions/${CAUTIOUS}`, { posture });
  });
  afterAll(() => toolyard.close());

  const completed = (taskId: string) =>
    eventually(async () => {
      const task = await ask(survivor, 'tasks/get', { taskId });
      return task.status === 'completed' ? task : undefined;
    }, `the end of the task ${taskId}`);
  const ends = async (taskId: string) => (await new Agent(survivor.url).events(taskId)).filter(({ type }) => type === 'call.end');

  it('leaves a running task to the other gateway, with one End', async () => {
    const victim = await toolyard.gateway();
    const task = await ask(victim, 'tools/call', { name: 'shell', arguments: { command: WAITS } });
    const { taskId } = task;
    expect(task).toMatchObject({ resultType: 'task' });
    await eventually(
      async () => (await new Agent(survivor.url).get(`/v1/calls/${taskId}`)).body.status === 'running',
      'the start of the task',
    );
    victim.signal('SIGKILL');
    await victim.ended();
    expect(await ask(survivor, 'tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
    writeFileSync(join(toolyard.workspaceRoot, 'default', 'sessions', SESSION, 'go'), '');
    expect((await completed(taskId)).result?.content[0]?.text).toContain('gone on');
    expect(await ends(taskId)).toHaveLength(1);
  });

  it('hands a task that waits for approval to the other gateway, which accepts the answer once', async () => {
    const victim = await toolyard.gateway();
    const { taskId } = await ask(victim, 'tools/call', { name: 'file_write', arguments: { path: 'asked', content: 'x' } }, CAUTIOUS);
    victim.signal('SIGKILL');
    await victim.ended();
    expect(await ask(survivor, 'tasks/get', { taskId })).toMatchObject({ status: 'input_required' });
    const inputResponses = { approval: { action: 'accept', content: { approve: true } } };
    for (const _time of [1, 2]) await ask(survivor, 'tasks/update', { taskId, inputResponses });
    await completed(taskId);
    expect(await ends(taskId)).toHaveLength(1);
    const events = await new Agent(survivor.url).events(taskId);
    expect(events.filter(({ type }) => type === 'call.approval_decided')).toHaveLength(1);
  });
});

describe('a task of /mcp while Redis or its worker is killed (SIGKILL)', () => {
  let toolyard: TestCluster;
  let gateway: AppProcess;
  beforeAll(async () => {
    toolyard = await startTestCluster({ env: { MCP_TASK_MS: '0' } });
    gateway = toolyard.gateways[0] as AppProcess;
  });
  afterAll(() => toolyard.close());

  it('completes a task of /mcp across a restart of Redis, with one End and the result of its one run', async () => {
    const task = await begin(toolyard, gateway, 'redis');
    await toolyard.redis.kill();
    await toolyard.redis.start();
    await eventually(async () => (await fetch(`${gateway.url}/readyz`)).ok, 'the gateway to have its Redis again');
    expect(await ask(gateway, 'tasks/get', { taskId: task.taskId }, 'redis')).toMatchObject({ status: 'working' });
    task.release();
    expect(await task.ended()).toMatchObject({
      status: 'completed',
      result: { isError: false, content: [{ text: expect.stringContaining('gone on') }] },
    });
    expect([await task.count('call.start'), await task.count('call.end')]).toEqual([1, 1]);
  });

  it('ends a task of /mcp whose worker is killed with an error, without running its command again', async () => {
    await toolyard.worker({ LEASE_MS: '5000' });
    const [first] = toolyard.workers.splice(0, 1);
    first?.signal('SIGTERM');
    await first?.ended();
    const task = await begin(toolyard, gateway, 'worker');
    const [victim] = toolyard.workers.splice(0);
    victim?.signal('SIGKILL');
    await victim?.ended();
    await toolyard.worker();
    expect(await task.ended()).toMatchObject({
      status: 'completed',
      result: { isError: true, _meta: { 'io.toolyard/outcome': 'unknown' } },
    });
    expect([await task.count('call.start'), await task.count('call.end')]).toEqual([1, 1]);
  });
});
