import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { CLOSE_CODES, WORKER_PROTOCOL, type ApiKeyConfig, type ToolDescriptor, type WorkerPollPage, type WorkerWelcome } from '#contracts';
import { ApiKeyStore } from '../../apps/gateway/src/auth/api-key-store.service.js';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { ADD, ScriptedWorker } from '../support/foreign-worker.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';

const TENANT = 'foreign-keys';
const WORK_KEY = 'key-that-only-works-and-changes';
const keys: ApiKeyConfig[] = [
  { id: 'all', key: BOOTSTRAP_KEY, tenant: TENANT, scopes: ['submit', 'read', 'cancel'] },
  { id: 'works', key: WORK_KEY, tenant: TENANT, scopes: ['work'], tools: ['add', 'slow*'] },
];

describe('a worker in another language whose key changes', () => {
  let gateway: TestGateway;
  let agent: Agent;
  const open: ScriptedWorker[] = [];
  let count = 0;

  const ready = async () => {
    const worker = await ScriptedWorker.ready(gateway.url, WORK_KEY, `w${++count}`);
    open.push(worker);
    return worker;
  };

  beforeAll(async () => {
    gateway = await startTestGateway(TENANT, { keys, leaseMs: 15_000, stopGraceMs: 300 });
    agent = gateway.agent;
  });
  afterEach(async () => {
    for (const worker of open.splice(0)) worker.close();
    const names = async () => (await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body.tools.map(({ name }) => name);
    await eventually(async () => !(await names()).includes('add'), 'the tools of gone workers to vanish');
  });
  afterAll(() => gateway.close());

  const CHANGES: [how: string, change: Partial<ApiKeyConfig> | undefined][] = [
    ['is revoked', undefined],
    ['has expired', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['loses the scope work', { scopes: ['read'] }],
    ['belongs to another tenant', { tenant: 'foreign-other' }],
    ['may not announce the tool any more', { tools: ['slow*'] }],
  ];
  const changedKeys = (change: Partial<ApiKeyConfig> | undefined): ApiKeyConfig[] =>
    keys.flatMap((key) => (key.id !== 'works' ? [key] : change === undefined ? [] : [{ ...key, ...change }]));

  it.each(CHANGES)('sends no call to a foreign worker, by socket or by poll, from the moment its key %s', async (_how, change) => {
    const apiKeys = gateway.app.get(ApiKeyStore);
    const worker = await ready();
    const poller = new Agent(gateway.url, WORK_KEY);
    const hello = { op: 'hello', protocol: WORKER_PROTOCOL, worker: `w${count}`, sdk: 'test/1', tools: [ADD] };
    const { workerId } = (await poller.request<WorkerWelcome>('POST', '/v1/workers', hello)).body;
    const poll = (wait: number, more: object) =>
      poller.request<WorkerPollPage>('POST', `/v1/workers/${workerId}/poll?wait=${wait}`, { after: 0, ...more });
    await poll(0, { credit: [{ pool: 'net', n: 1 }] });
    const polling = poll(30, {});
    try {
      apiKeys.replace(changedKeys(change));
      for (let n = 0; n < 2; n++) await agent.submit('add', { a: 1, b: 2 });
      expect(JSON.stringify((await polling).body)).not.toContain('"op":"call"');
      await eventually(() => worker.closed, 'the end of the connection');
      expect(worker.frames.map(({ op }) => op)).not.toContain('call');
    } finally {
      apiKeys.replace(keys);
    }
  });

  it.each(CHANGES)('ends the connection of a foreign worker, and returns its call, when its key %s', async (_how, change) => {
    const apiKeys = gateway.app.get(ApiKeyStore);
    const worker = await ready();
    const { id } = await agent.accepted('add', { a: 1, b: 2 });
    await worker.next('call');
    try {
      apiKeys.replace(changedKeys(change));
      expect((await eventually(() => worker.closed, 'the end of the connection')).code).toBe(CLOSE_CODES.unauthenticated);
      expect((await agent.ended(id)).outcome).toBe('unknown');
    } finally {
      apiKeys.replace(keys);
    }
  });
});
