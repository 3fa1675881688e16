import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  WebhookSettings,
  type ApiKeyConfig,
  type Problem,
  type ResponseOf,
  type ROUTES,
  type WebhookDelivery,
  type WebhookMessage,
} from '#contracts';
import { createRedis, keys as redisKeys } from '#redis';
import { EgressPolicy } from '#sandbox';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { startWebhookServer, type WebhookRequest, type WebhookServer } from '../support/webhook.js';

const TENANT = 'webhooks';
const SECRET = `whsec_${Buffer.from('the secret of the webhook tests!').toString('base64')}`;
const ENV = { HOOK_SECRET: SECRET };
const KEYS: ApiKeyConfig[] = [
  { id: 'webhooks-admin', key: 'admin-key-of-the-webhook-tests', tenant: TENANT, scopes: ['submit', 'read', 'approve', 'admin', 'cancel'] },
  { id: 'webhooks-rival', key: 'rival-key-of-the-webhook-tests', tenant: `${TENANT}-rival`, scopes: ['submit', 'read', 'cancel', 'admin'] },
];

const HOOKS = ['chat', 'denials', 'flaky', 'private'];
let server: WebhookServer;
let settings: Parameters<typeof startTestGateway>[1];
let gateways: TestGateway[] = [];

beforeAll(async () => {
  server = await startWebhookServer();
  const hook = (name: string, more: object) =>
    WebhookSettings.parse({ name, url: `${server.url}/${name}`, secretEnv: 'HOOK_SECRET', retryMs: 10, ...more });
  const webhooks = [
    hook('chat', { types: ['call.approval_requested', 'call.approval_decided'] }),
    hook('denials', { types: ['call.end'], outcomes: ['denied'] }),
    hook('flaky', { types: ['call.end'], tools: ['flaky*'], attempts: 3 }),
    hook('private', { url: `http://127.0.0.2:${server.port}/private`, types: ['call.end'], tools: ['private*'], attempts: 1 }),
  ];
  const egress = new EgressPolicy([`127.0.0.1:${server.port}`]);
  settings = { keys: KEYS, webhooks: { [TENANT]: webhooks }, env: ENV, egress, publicUrl: 'https://tools.example.com' };
  gateways = await Promise.all([0, 1].map(() => startTestGateway(TENANT, settings)));
  // A webhook begins with what happens after it was first seen.
  const redis = createRedis(process.env['TEST_REDIS_URL'] ?? '');
  const places = () => redis.hmget(redisKeys.webhookCursors(), ...HOOKS.map((name) => `${TENANT}/${name}`));
  await eventually(async () => (await places()).every((place) => place !== null), 'all webhooks to have a place in the log');
  redis.disconnect();
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.close()));
  await server.close();
});

const as = (index: number, gateway = gateways[0]) => new Agent(gateway?.url ?? '', KEYS[index]?.key);
const deliveries = async (name: string, state: string, by = as(0)) =>
  (await by.get<{ deliveries: WebhookDelivery[] }>(`/v1/webhooks/${name}/deliveries?state=${state}`)).body.deliveries;
const deliveryOf = (name: string, state: string, callId: string) =>
  eventually(async () => (await deliveries(name, state)).find((it) => it.callId === callId), `a ${state} delivery of ${callId}`);
/** No tool has this name: the call is refused, which is its End. */
const refused = async (tool: string, by = as(0)) => {
  const { body } = await by.submit(tool, {});
  return 'callId' in body ? String(body.callId) : '';
};
const bodyOf = ({ text }: WebhookRequest) => JSON.parse(text) as WebhookMessage;
const received = (name: string, callId: string) => server.to(`/${name}`).filter((request) => bodyOf(request).data.callId === callId);
const arrival = (name: string, callId: string, nth = 0) => eventually(() => received(name, callId)[nth], `${callId} to arrive at ${name}`);

describe('a webhook', () => {
  it('sends approvals and ends to a webhook once, signed by Standard Webhooks, from any gateway', async () => {
    const admin = as(0, gateways[1]);
    await admin.request('PUT', '/v1/sessions/webhooks', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
    const { body: call } = await admin.submit('shell', { command: 'touch x' }, { sessionId: 'webhooks' });
    const asked = await arrival('chat', call.id);
    expect(new Webhook(SECRET).verify(asked.text, asked.headers as Record<string, string>)).toMatchObject({
      type: 'call.approval_requested',
      data: {
        callId: call.id,
        url: `https://tools.example.com/calls/${call.id}`,
        call: { status: 'waiting_approval', arguments: { command: 'touch x' }, approval: { reasons: expect.any(Array) } },
      },
    });
    expect(() => new Webhook(SECRET).verify(`${asked.text} `, asked.headers as Record<string, string>)).toThrow('signature');
    await as(0).request('POST', `/v1/calls/${call.id}/decision`, { decision: 'deny' });
    expect(bodyOf(await arrival('chat', call.id, 1))).toMatchObject({
      type: 'call.approval_decided',
      data: { actor: 'apikey:webhooks-admin', decision: 'deny' },
    });
    expect(bodyOf(await arrival('denials', call.id))).toMatchObject({ type: 'call.end', data: { call: { outcome: 'denied' } } });
    await Promise.all([deliveryOf('denials', 'delivered', call.id), deliveryOf('chat', 'delivered', call.id)]);
    expect([received('chat', call.id).length, received('denials', call.id).length]).toEqual([2, 1]);
  });

  it('tries a failed webhook again with the same id, then marks it dead, and sends it again when a person asks', async () => {
    const tries = (request: WebhookRequest) => received('flaky', bodyOf(request).data.callId).length;
    server.on('/flaky', (request, response) => response.writeHead(tries(request) < 3 ? 503 : 204).end());
    const twice = await refused('flaky_twice');
    expect(await deliveryOf('flaky', 'delivered', twice)).toMatchObject({ attempts: 3, lastError: 'it answered 503' });
    expect(new Set(received('flaky', twice).map(({ headers }) => headers['webhook-id'])).size).toBe(1);

    server.on('/flaky', (_request, response) => response.writeHead(302, { location: `${server.url}/chat` }).end());
    const never = await refused('flaky_never');
    const { id, attempts, lastError } = await deliveryOf('flaky', 'dead', never);
    expect([attempts, lastError]).toEqual([3, expect.stringContaining('302')]);
    expect(received('chat', never)).toEqual([]);
    const retry = () => as(0).request<Problem>('POST', `/v1/webhooks/flaky/deliveries/${id}/retry`);
    server.on('/flaky', (_request, response) => response.writeHead(204).end());
    expect((await retry()).status).toBe(202);
    expect(await deliveryOf('flaky', 'delivered', never)).toMatchObject({ id, attempts: 1 });
    expect((await retry()).body.code).toBe('conflict');
  });

  it('sends no webhook to an address that is not public and that the operator has not named', async () => {
    const callId = await refused('private_end');
    expect((await deliveryOf('private', 'dead', callId)).lastError).toContain('Blocked');
    expect(server.to('/private')).toEqual([]);
  });

  it('sends a webhook the events of an outage, and nothing of another tenant', async () => {
    const without = await startTestGateway(TENANT, { keys: KEYS });
    await Promise.all(gateways.map((gateway) => gateway.close()));
    const foreign = await refused('flaky_foreign', as(1, without));
    const own = await refused('flaky_missed', as(0, without));
    expect(received('flaky', own)).toEqual([]);
    gateways = [await startTestGateway(TENANT, settings)];
    await arrival('flaky', own);
    expect(received('flaky', foreign)).toEqual([]);
    expect((await as(1).get<Problem>('/v1/webhooks/flaky/deliveries')).status).toBe(404);
    expect((await as(1).get('/v1/webhooks')).body).toEqual({ webhooks: [] });
    const { body } = await as(0).get<ResponseOf<typeof ROUTES.listWebhooks>>('/v1/webhooks');
    expect(body.webhooks.map(({ name, host }) => [name, host])).toEqual(HOOKS.map((name) => [name, expect.stringMatching(/^127\.0\.0\./)]));
    await without.close();
  });
});
