import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SourceSettings, type ApiKeyConfig, type Problem, type ToolDescriptor, type WorkerOutput, type WorkerTool } from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { ADD, ScriptedWorker } from '../support/foreign-worker.js';
import { BOOTSTRAP_KEY, sha256, startTestGateway, type TestGateway } from '../support/gateway.js';
import { startRedisServer } from '../support/redis-server.mjs';

const [WORK_KEY, SECRETS_KEY, OTHER_KEY] = ['key-that-only-works-12345', 'key-of-a-trusted-worker-1', 'key-of-another-tenant-123'];
const keys: ApiKeyConfig[] = [
  { id: 'all', key: BOOTSTRAP_KEY, tenant: 'granted', scopes: ['submit', 'read', 'cancel'] },
  { id: 'works', key: WORK_KEY, tenant: 'granted', scopes: ['work'] },
  { id: 'trusted', key: SECRETS_KEY, tenant: 'granted', scopes: ['work'], workerSecrets: true },
  { id: 'other', key: OTHER_KEY, tenant: 'granted-other', scopes: ['submit', 'read', 'work'] },
];

const SECRET = 'a plain phrase that no pattern knows';
const GRANTED = SourceSettings.parse({
  name: 'granted',
  kind: 'worker',
  tenant: 'granted',
  secrets: { add: { PHRASE: { secretEnv: 'WORKER_PHRASE' } }, slow: { MISSING: { secretEnv: 'WORKER_MISSING' } } },
  workspaceRoot: '/mnt/work',
});

describe('what a foreign worker gets with a call, and outputs beside its frames', () => {
  let redis: Awaited<ReturnType<typeof startRedisServer>>;
  let gateway: TestGateway;
  let agent: Agent;
  const open: ScriptedWorker[] = [];

  beforeAll(async () => {
    redis = await startRedisServer();
    const granted = { sources: [GRANTED], env: { WORKER_PHRASE: SECRET } };
    gateway = await startTestGateway('granted', { redisUrl: redis.url, keys, stopGraceMs: 300, ...granted });
    agent = gateway.agent;
  });
  afterEach(async () => {
    for (const worker of open.splice(0)) worker.close();
    const { body } = await eventually(async () => {
      const answer = await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools');
      return answer.body.tools.some(({ source }) => source === 'granted') ? undefined : answer;
    }, 'the tools of gone workers to vanish');
    expect(body.tools.length).toBeGreaterThan(0);
  });
  afterAll(async () => {
    await gateway.close();
    await redis.stop();
  });

  const connected = async (key: string, tools: WorkerTool[]) => {
    const worker = await ScriptedWorker.ready(gateway.url, key, 'granted', tools, 2);
    open.push(worker);
    return worker;
  };

  it('gives a call the workspace and the secrets that the operator names for its tool, and redacts them', async () => {
    const worker = await connected(SECRETS_KEY, [ADD]);
    const { id } = (await agent.submit('add', { a: 1, b: 2 }, { sessionId: 'mine' })).body;
    const call = await worker.next('call');
    expect(call).toMatchObject({ secrets: { PHRASE: SECRET }, workspace: '/mnt/work/granted/sessions/mine' });
    const { callId, fence } = call;
    const [first, rest] = [SECRET.slice(0, 9), SECRET.slice(9)];
    worker.send({ op: 'update', callId, fence, wseq: 1, content: [{ type: 'text', text: `I know ${first}` }] });
    worker.send({ op: 'update', callId, fence, wseq: 2, content: [{ type: 'text', text: rest }] });
    worker.send({ op: 'progress', callId, fence, message: `at ${SECRET}` });
    worker.finish(call, `said ${Buffer.from(SECRET).toString('base64')} and ${SECRET}`);
    const ended = await agent.ended(id);
    const shown = JSON.stringify([ended, await agent.events(id)]);
    expect(ended.outcome).toBe('completed');
    expect(shown).toContain('said [REDACTED] and [REDACTED]');
    for (const part of [SECRET, rest, Buffer.from(SECRET).toString('base64').slice(0, 20)]) expect(shown).not.toContain(part);
  });

  it('gives no secrets to keys without the setting, and none of another tool', async () => {
    const plain = await connected(WORK_KEY, [ADD]);
    await agent.submit('add', { a: 1, b: 2 });
    const call = await plain.next('call');
    expect(call).not.toHaveProperty('secrets');
    plain.finish(call, '3');
    await plain.next('done');
    plain.send({ op: 'bye' });
    const other = await connected(SECRETS_KEY, [{ ...ADD, name: 'subtract' }]);
    await agent.submit('subtract', { a: 1, b: 2 });
    const second = await other.next('call');
    expect(second).not.toHaveProperty('secrets');
    other.finish(second, '-1');
    await other.next('done');
  });

  it('fails a call with an unset secret, without sending it', async () => {
    const worker = await connected(SECRETS_KEY, [{ ...ADD, name: 'slow' }]);
    const { id } = (await agent.submit('slow', { a: 1, b: 2 })).body;
    expect((await agent.ended(id)).error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('WORKER_MISSING') });
    expect(worker.frames.filter(({ op }) => op === 'call')).toEqual([]);
  });

  const putOutput = (call: { callId: string; fence: number }, text: string | Buffer, more: Record<string, string> = {}) => {
    const { key = WORK_KEY, fence = String(call.fence), type = 'text/plain', digest, worker = 'granted' } = more;
    const headers = { authorization: `Bearer ${key}`, 'content-type': type, ...(digest === undefined ? {} : { 'repr-digest': digest }) };
    return fetch(`${gateway.url}/v1/calls/${call.callId}/output?${new URLSearchParams({ worker, fence }).toString()}`, {
      method: 'PUT',
      headers,
      body: new Uint8Array(Buffer.from(text)),
    });
  };

  /** The status of a request that never sends the body that it announces. */
  const announced = async (method: string, path: string, key: string | undefined, bytes: number) => {
    const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const sent = request(`${gateway.url}${path}`, {
      method,
      headers: { 'content-type': 'text/plain', 'content-length': String(bytes), ...authorization },
    });
    sent.on('error', () => {}).flushHeaders();
    const [answer]: IncomingMessage[] = await once(sent, 'response');
    sent.destroy();
    return answer?.statusCode;
  };

  it('accepts an output too large for a frame, and counts it in the result', async () => {
    const worker = await connected(WORK_KEY, [ADD]);
    const { id } = (await agent.submit('add', { a: 1, b: 2 })).body;
    const call = await worker.next('call');
    const text = `${'ä line\n'.repeat(300_000)}ghp_${'a1B2'.repeat(9)}`;
    await putOutput(call, 'an earlier one');
    const answer = await putOutput(call, text);
    expect(answer.status).toBe(200);
    const output = (await answer.json()) as WorkerOutput;
    expect(output).toEqual({ sha256: sha256(text), bytes: Buffer.byteLength(text) });
    const { callId, fence } = call;
    worker.send({ op: 'finish', callId, fence, wseq: 1, outcome: 'completed', content: [{ type: 'text', text: 'head' }], output });
    await worker.next('done');
    const ended = await agent.ended(id);
    const clean = `head${text.replace(/ghp_.*/, '[REDACTED]')}`;
    expect(ended.result?.truncated).toMatchObject({ originalBytes: expect.any(Number) });
    const stored = await (
      await fetch(`${gateway.url}/v1/calls/${id}/output`, { headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` } })
    ).text();
    expect(stored.endsWith('ä line\n[REDACTED]')).toBe(true);
    expect(stored.length).toBeGreaterThanOrEqual(clean.length);
    const end = (await agent.events(id)).find(({ type }) => type === 'call.end')?.data;
    expect(end).toMatchObject({ output: { sha256: sha256(stored), bytes: Buffer.byteLength(stored) } });
    expect((await putOutput(call, 'late')).status).toBe(409);
  });

  it('refuses outputs of an old fence, of other keys, of another digest, no text, and too large', async () => {
    const worker = await connected(WORK_KEY, [ADD]);
    await agent.submit('add', { a: 1, b: 2 });
    const call = await worker.next('call');
    const status = async (...args: Parameters<typeof putOutput>) => {
      const answer = await putOutput(...args);
      return [answer.status, ((await answer.json()) as Problem).code];
    };
    expect(await status(call, 'x', { fence: String(call.fence + 1) })).toEqual([409, 'conflict']);
    expect(await status(call, 'x', { key: SECRETS_KEY })).toEqual([404, 'resource_not_found']);
    expect(await status(call, 'x', { key: OTHER_KEY })).toEqual([404, 'resource_not_found']);
    expect(await status(call, 'x', { worker: 'another' })).toEqual([404, 'resource_not_found']);
    expect(await status({ ...call, callId: '01-01JZ8C5W3Q4X9R7T2M6K8N0P1V' }, 'x')).toEqual([404, 'resource_not_found']);
    expect(await status(call, 'x', { digest: `sha-256=:${'A'.repeat(43)}=:` })).toEqual([422, 'invalid_request']);
    expect(await status(call, Buffer.from([0xff, 0xfe]))).toEqual([422, 'invalid_request']);
    expect(await status(call, 'x', { type: 'application/octet-stream' })).toEqual([415, 'unsupported_media_type']);
    expect(await status(call, 'x'.repeat(8_388_609))).toEqual([413, 'payload_too_large']);
    const posted = await fetch(`${gateway.url}/v1/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': 'text/plain' },
      body: '{"tool":"add"}',
    });
    expect(posted.status).toBe(415);
    const { callId, fence } = call;
    const path = `/v1/calls/${callId}/output?worker=granted&fence=${fence}`;
    expect(await announced('PUT', path, undefined, 8_388_608)).toBe(401);
    expect(await announced('PUT', path, BOOTSTRAP_KEY, 8_388_608)).toBe(403);
    expect(await announced('POST', '/v1/calls', BOOTSTRAP_KEY, 2_000_000)).toBe(413);
    worker.send({ op: 'finish', callId, fence, wseq: 1, outcome: 'completed', output: { sha256: '0'.repeat(64), bytes: 1 } });
    expect((await agent.ended(callId)).error?.code).toBe('output_invalid');
  });
});
