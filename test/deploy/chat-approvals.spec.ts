import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { WebhookSettings, type ApiKeyConfig } from '#contracts';
import { createRedis, keys as redisKeys } from '#redis';
import { EgressPolicy } from '#sandbox';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.mjs';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { startWebhookServer, type WebhookServer } from '../support/webhook.js';

const PROGRAM = 'dist/apps/examples/src/chat-approvals.js';
const TENANT = 'chat-approvals';
const SECRET = `whsec_${Buffer.from('the secret of the chat approvals').toString('base64')}`;
const CHAT_SECRET = 'the signing secret of the chat';
const AGENT = configKey('agent', { scopes: ['submit', 'read', 'admin'] });
const ADA = configKey('ada', { person: 'ada', scopes: ['submit', 'read', 'approve'] });
const GRACE = configKey('grace', { person: 'grace', scopes: ['read', 'approve'] });

function configKey(id: string, rights: Pick<ApiKeyConfig, 'person' | 'scopes'>): ApiKeyConfig {
  return { id, key: `key-of-${id}-for-the-chat-approvals`, tenant: TENANT, ...rights };
}

interface ChatMessage {
  readonly text: string;
  readonly blocks: readonly { readonly text?: { readonly text: string }; readonly elements?: readonly Button[] }[];
}
interface Button {
  readonly action_id: string;
  readonly value: string;
}

let chat: WebhookServer;
let gateway: TestGateway;
let bot: ChildProcess;
let botUrl: string;
let env: Record<string, string>;
let agent: Agent;
let ada: Agent;

beforeAll(async () => {
  chat = await startWebhookServer();
  const port = await freePort();
  botUrl = `http://127.0.0.1:${port}`;
  const webhook = WebhookSettings.parse({
    name: 'chat',
    url: `${botUrl}/toolyard`,
    secretEnv: 'HOOK_SECRET',
    types: ['call.approval_requested'],
    retryMs: 10,
  });
  const egress = new EgressPolicy([`127.0.0.1:${port}`]);
  gateway = await startTestGateway(TENANT, {
    keys: [AGENT, ADA, GRACE],
    fourEyes: true,
    webhooks: { [TENANT]: [webhook] },
    env: { HOOK_SECRET: SECRET },
    egress,
  });
  env = {
    PATH: process.env['PATH'] ?? '',
    PORT: String(port),
    TOOLYARD_URL: gateway.url,
    WEBHOOK_SECRET: SECRET,
    CHAT_WEBHOOK_URL: `${chat.url}/incoming`,
    CHAT_SIGNING_SECRET: CHAT_SECRET,
    CHAT_APPROVERS: `U1=${ADA.key}, U2=${GRACE.key}`,
  };
  bot = spawn(process.execPath, [PROGRAM], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  bot.stdout?.on('data', (chunk) => (said += String(chunk)));
  [agent, ada] = [new Agent(gateway.url, AGENT.key ?? ''), new Agent(gateway.url, ADA.key ?? '')];
  await agent.request('PUT', '/v1/sessions/chat', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
  const redis = createRedis(process.env['TEST_REDIS_URL'] ?? '');
  await eventually(async () => (await redis.hget(redisKeys.webhookCursors(), `${TENANT}/chat`)) !== null, 'the webhook to begin');
  redis.disconnect();
  await eventually(() => said.includes('listening'), 'the program to listen');
});
afterAll(async () => {
  bot?.kill('SIGTERM');
  await gateway?.close();
  await chat?.close();
});

const messages = () => chat.to('/incoming').map(({ text }) => JSON.parse(text) as ChatMessage);
const buttonsOf = (message: ChatMessage) => message.blocks.flatMap(({ elements = [] }) => elements);
const answers = () => chat.to('/answered').map(({ text }) => (JSON.parse(text) as ChatMessage).text);
const call = async (id: string) => (await agent.get(`/v1/calls/${id}`)).body;

async function asked(command: string, submitter = agent): Promise<{ id: string; message: ChatMessage }> {
  const { body } = await submitter.submit('shell', { command }, { sessionId: 'chat' });
  const message = await eventually(() => messages().find((it) => JSON.stringify(it).includes(body.id)), 'a message in the chat');
  return { id: body.id, message };
}

/** A person presses a button; the chat signs the answer. */
async function press(
  button: Button | undefined,
  { user = 'U1', secret = CHAT_SECRET, age = 0, host = chat.url } = {},
): Promise<[number, () => Promise<number>]> {
  const payload = { type: 'block_actions', user: { id: user }, response_url: `${host}/answered`, actions: [button] };
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const at = String(Math.floor(Date.now() / 1000) - age);
  const signature = `v0=${createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')}`;
  const headers = { 'x-slack-signature': signature, 'x-slack-request-timestamp': at, 'content-type': 'application/x-www-form-urlencoded' };
  const send = async () => (await fetch(`${botUrl}/chat`, { method: 'POST', headers, body })).status;
  return [await send(), send];
}

describe('the example for approvals from chat', () => {
  it('shows waiting calls in the chat, and decides them by the pressed button', async () => {
    const first = await asked('touch a # `x` <!channel>');
    expect(first.message.blocks[0]?.text?.text).toContain('touch a # ˋxˋ &lt;!channel&gt;');
    expect(await press(buttonsOf(first.message)[0])).toEqual([200, expect.any(Function)]);
    expect(await call(first.id)).toMatchObject({ status: 'queued' });
    expect(answers().at(-1)).toBe(`Allowed by <@U1>: ${first.id}`);

    const second = await asked('touch b');
    await press(buttonsOf(second.message)[1], { user: 'U2' });
    expect(await call(second.id)).toMatchObject({ status: 'ended', outcome: 'denied', error: { message: expect.stringContaining('U2') } });
  });

  it('marks names that may imitate others, but no text in one alphabet', async () => {
    const { message } = await asked('git push https://p\u0430ypal.com/x main\n\u0441\u0431\u043e\u0440\u043a\u0430 4k\u03a9');
    expect(message.blocks[0]?.text?.text).toContain(
      'https://p\u0430ypal.com‹Latin and Cyrillic: U+0430›/x main\\n\u0441\u0431\u043e\u0440\u043a\u0430 4k\u03a9"',
    );
  });

  it('prevents people from allowing their own submissions', async () => {
    const { id, message } = await asked('touch own', ada);
    await press(buttonsOf(message)[0], { user: 'U1' });
    expect(answers().at(-1)).toContain('Not answered');
    expect(await call(id)).toMatchObject({ status: 'waiting_approval' });
    await press(buttonsOf(message)[0], { user: 'U2' });
    expect(await call(id)).toMatchObject({ status: 'queued' });
  });

  it.each([
    ['WEBHOOK_SECRET', 'whsec_'],
    ['WEBHOOK_SECRET', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['CHAT_SIGNING_SECRET', 'fifteen letters'],
    ['CHAT_APPROVERS', 'U1,U2'],
    ['CHAT_APPROVERS', 'U1=one-key-of-two,U2=one-key-of-two'],
    ['CHAT_APPROVERS', 'U1=one-key,U1=another-key'],
  ])('refuses to start the example for approvals from chat with %s=%s', (name, value) => {
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM], {
      env: { ...env, PORT: '0', [name]: value },
      encoding: 'utf8',
      timeout: 180_000,
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining(`at ${name}`)]);
  });

  it('refuses answers from chat that are forged, old, repeated, of another user, for another host or for another question', async () => {
    const { id, message } = await asked('touch c');
    const [allow] = buttonsOf(message);
    expect((await press(allow, { secret: 'another' }))[0]).toBe(401);
    expect((await press(allow, { age: 301 }))[0]).toBe(401);
    expect((await press(allow, { host: 'https://evil.example' }))[0]).toBe(403);
    await press(allow, { user: 'U3' });
    expect(answers().at(-1)).toBe('You may not answer this.');
    await press({ action_id: 'allow', value: JSON.stringify({ callId: id, digest: 'f'.repeat(64) }) });
    expect(answers().at(-1)).toContain('Not answered');
    expect(await call(id)).toMatchObject({ status: 'waiting_approval' });
    const [, again] = await press(allow);
    expect(await again()).toBe(409);
    expect(await call(id)).toMatchObject({ status: 'queued' });
  });

  it('refuses webhooks for chat that are unsigned or old, and drops repeated ones', async () => {
    const { id } = await asked('touch d');
    const text = chat.requests.length;
    const body = JSON.stringify({
      type: 'call.approval_requested',
      timestamp: new Date().toISOString(),
      data: { callId: id, actor: 'x', call: await call(id) },
    });
    const send = async (msgId: string, at: Date, signature = new Webhook(SECRET).sign(msgId, at, body)) => {
      const headers = { 'webhook-id': msgId, 'webhook-timestamp': String(Math.floor(at.getTime() / 1000)), 'webhook-signature': signature };
      return (await fetch(`${botUrl}/toolyard`, { method: 'POST', headers, body })).status;
    };
    expect(await send('evt_1', new Date(), '')).toBe(401);
    expect(await send('evt_1', new Date(), 'v1,bm90IHRoZSBzaWduYXR1cmU=')).toBe(401);
    expect(await send('evt_1', new Date(Date.now() - 301_000))).toBe(401);
    expect(chat.requests.length).toBe(text);
    expect(await send('evt_1', new Date())).toBe(200);
    expect(await send('evt_1', new Date())).toBe(200);
    expect(chat.requests.length).toBe(text + 1);
  });

  it('offers no approval in chat of content that a message cannot show whole', async () => {
    const { message } = await asked(`echo ${'x'.repeat(3_000)}`);
    expect(buttonsOf(message).map(({ action_id }) => action_id)).toEqual(['deny']);
  });

  it('repeats a webhook for the chat when the chat did not answer', async () => {
    let tries = 0;
    chat.on('/incoming', (_request, response) => response.writeHead(++tries === 1 ? 500 : 200).end());
    const { id } = await asked('touch e');
    await eventually(() => tries === 2, `${id} to be posted again`);
  });
});
