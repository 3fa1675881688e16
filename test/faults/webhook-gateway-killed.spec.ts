import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WebhookDelivery, WebhookMessage } from '#contracts';
import { createRedis, keys } from '#redis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';
import { startWebhookServer, type WebhookRequest, type WebhookServer } from '../support/webhook.js';

const CALLS = 6;

describe('a gateway that is killed (SIGKILL) while it sends a webhook', () => {
  let toolyard: TestCluster;
  let receiver: WebhookServer;
  let folder: string;
  beforeAll(async () => {
    receiver = await startWebhookServer();
    folder = mkdtempSync(join(tmpdir(), 'toolyard-webhooks-'));
    const TOOLYARD_CONFIG = join(folder, 'config.json');
    const webhook = { name: 'ends', url: `${receiver.url}/ends`, secretEnv: 'HOOK_SECRET', types: ['call.end'], retryMs: 10 };
    writeFileSync(TOOLYARD_CONFIG, JSON.stringify({ tenants: { default: { webhooks: [webhook] } } }));
    const EGRESS_ALLOW_HOSTS = `127.0.0.1:${receiver.port}`;
    toolyard = await startTestCluster({ gatewayEnv: { TOOLYARD_CONFIG, EGRESS_ALLOW_HOSTS, HOOK_SECRET: 'secret-of-the-webhook-test' } });
  });
  afterAll(async () => {
    await toolyard.close();
    await receiver.close();
    rmSync(folder, { recursive: true });
  });

  it('hands each delivery of a killed gateway to another one, which sends it under the same id', async () => {
    const victim = toolyard.gateways[0];
    const redis = createRedis(toolyard.redis.url);
    await eventually(() => redis.hget(keys.webhookCursors(), 'default/ends'), 'the webhook to have a place in the log');
    redis.disconnect();
    const held: ServerResponse[] = [];
    receiver.on('/ends', (_request, response) => void held.push(response));
    const agent = new Agent(victim?.url ?? '');
    const submitted = await Promise.all(Array.from({ length: CALLS }, (_, n) => agent.submit('echo', { message: `m${n}` })));
    const callIds = submitted.map(({ body }) => body.id).toSorted();
    await eventually(() => held.length > 0, 'a delivery to be held by its receiver');
    victim?.signal('SIGKILL');
    await victim?.ended();
    // Data sent by the victim just before its death are read until its connections are closed.
    await eventually(async () => (await receiver.connections()) === 0, 'the connections of the victim to close');
    const before = new Set(receiver.to('/ends').map(idOf));
    receiver.on('/ends', (_request, response) => void response.writeHead(204).end());

    const survivor = await toolyard.gateway();
    const other = new Agent(survivor.url);
    const deliveries = async (state: string) =>
      (await other.get<{ deliveries: WebhookDelivery[] }>(`/v1/webhooks/ends/deliveries?state=${state}`)).body.deliveries;
    const delivered = await eventually(async () => {
      const found = await deliveries('delivered');
      return found.length >= CALLS ? found : undefined;
    }, 'all ends to be delivered');
    expect(delivered.map(({ callId }) => callId).toSorted()).toEqual(callIds);
    expect([await deliveries('waiting'), await deliveries('dead')]).toEqual([[], []]);
    for (const callId of callIds) {
      const ids = receiver
        .to('/ends')
        .filter((it) => messageOf(it).data.callId === callId)
        .map(idOf);
      expect(new Set(ids).size).toBe(1);
      expect(ids).toHaveLength(before.has(ids[0]) ? 2 : 1);
    }
  });
});

const idOf = ({ headers }: WebhookRequest) => headers['webhook-id'];
const messageOf = ({ text }: WebhookRequest) => JSON.parse(text) as WebhookMessage;
