import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CLOSE_CODES, WORKER_PROTOCOL, type ApiKeyConfig, type Problem, type WorkerWelcome } from '#contracts';
import { createRedis, keys as redisKeys } from '#redis';
import { Agent } from '../support/agent.js';
import { ForeignWorkers } from '../../apps/gateway/src/foreign-workers/bridge/foreign-workers.service.js';
import { eventually } from '../support/eventually.js';
import { ADD, ScriptedWorker } from '../support/foreign-worker.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';

const TENANT = 'foreign-floods';
const [SOCKET_KEY, QUIET_KEY] = ['key-of-a-flooding-socket', 'key-of-a-quiet-worker-12'];
const POLL_KEYS = ['key-of-a-flooding-poller-1', 'key-of-a-flooding-poller-2', 'key-of-a-flooding-poller-3'] as const;
const NO_CALL = '00-01JB0000000000000000000000';
const OTHER_KEY = 'key-of-a-flood-elsewhere';
const work = (id: string, key: string, tenant = TENANT): ApiKeyConfig => ({ id, key, tenant, scopes: ['work'] });
const keys: ApiKeyConfig[] = [
  { id: 'all', key: BOOTSTRAP_KEY, tenant: TENANT, scopes: ['submit', 'read', 'cancel'] },
  work('socket', SOCKET_KEY),
  ...POLL_KEYS.map((key, index) => work(`poller-${index}`, key)),
  work('quiet', QUIET_KEY, 'foreign-quiet'),
  work('elsewhere', OTHER_KEY),
];
/** The budget refills with time: so many are beyond it on a machine that takes half a minute for them, too. */
const FLOOD = 200_000;
/** Result of a call that the worker does not have. */
const finish = (structuredContent: unknown) => ({
  op: 'finish',
  callId: NO_CALL,
  fence: 1,
  wseq: 1,
  outcome: 'completed',
  structuredContent,
});

describe('a foreign worker that floods', () => {
  let gateway: TestGateway;
  beforeAll(async () => void (gateway = await startTestGateway(TENANT, { keys, stopGraceMs: 300 })));
  afterAll(() => gateway.close());

  it('stops a flooding foreign worker with the reason, and delays its key’s next connection; others continue', async () => {
    const quiet = await ScriptedWorker.ready(gateway.url, QUIET_KEY, 'quiet');
    const worker = await ScriptedWorker.ready(gateway.url, SOCKET_KEY, 'flood');
    const pong = JSON.stringify({ op: 'pong' });
    for (let sent = 0; sent < FLOOD; sent += 1) worker.raw(pong);
    await eventually(() => worker.closed, 'the end of the connection');
    expect(worker.closed?.code).toBe(CLOSE_CODES.tooManyFrames);
    const { problem } = await worker.next('refused').catch(() => worker.frames.find((it) => it.op === 'refused') as { problem: Problem });
    expect(problem).toMatchObject({ code: 'too_many_requests', detail: expect.stringMatching(/more than \d+ messages a second/) });
    expect(problem.retryAfterMs).toBeGreaterThanOrEqual(1_000);
    const again = await ScriptedWorker.open(gateway.url, SOCKET_KEY);
    again.hello('another-name', [ADD]);
    expect((await again.next('refused')).problem).toMatchObject({ code: 'too_many_requests' });
    again.close();
    expect(quiet.closed).toBeUndefined();
    quiet.close();
  });

  it('blocks the key of a flooding foreign worker at other gateways, too', async () => {
    const other = await startTestGateway(TENANT, { keys });
    const principal = { tenantId: TENANT, keyId: 'elsewhere', scopes: ['work'] } as const;
    other.app.get(ForeignWorkers).flooded({ ...principal, scopes: [...principal.scopes] }, undefined, 'it flooded');
    const redis = createRedis(gateway.redisUrl);
    await eventually(async () => (await redis.exists(redisKeys.workerPause(TENANT, 'elsewhere'))) === 1, 'the pause in Redis');
    redis.disconnect();
    const worker = await ScriptedWorker.open(gateway.url, OTHER_KEY);
    worker.hello('elsewhere', [ADD]);
    expect((await worker.next('refused')).problem).toMatchObject({ code: 'too_many_requests' });
    worker.close();
    await other.close();
  });

  it.each<[string, string, object[], number]>([
    ['frames', POLL_KEYS[0], Array.from({ length: 1_000 }, () => ({ op: 'pong' })), FLOOD / 1_000],
    ['frames of many values', POLL_KEYS[1], [finish(Array.from({ length: 95_000 }, () => 1))], 100],
  ])('stops a foreign worker that floods with %s by long-poll requests', async (what, key, frames, times) => {
    const poller = new Agent(gateway.url, key);
    const worker = `flood-of-${what.split(' ').at(-1)}`;
    const hello = { op: 'hello', protocol: WORKER_PROTOCOL, worker, sdk: 'test/1', tools: [ADD] };
    const { workerId } = (await poller.request<WorkerWelcome>('POST', '/v1/workers', hello)).body;
    let answer = { status: 0, body: {} };
    for (let sent = 0; sent < times && answer.status !== 429; sent += 1)
      answer = await poller.request<object>('POST', `/v1/workers/${workerId}/messages`, { frames });
    expect(answer).toMatchObject({ status: 429, body: { detail: expect.stringContaining('messages a second') } });
    expect((await poller.request('POST', `/v1/workers/${workerId}/messages`, { frames: [] })).status).toBeGreaterThanOrEqual(400);
    expect((await poller.request<Problem>('POST', '/v1/workers', hello)).body).toMatchObject({ code: 'too_many_requests' });
  });
});
