/*
 * Approvals from chat: posts what waits for a person to a chat, and gives Toolyard the answer of the button that was pressed.
 *
 *   Toolyard ── signed webhook call.approval_requested ──▶ POST /toolyard ──▶ CHAT_WEBHOOK_URL: message with two buttons
 *   chat ── signed answer of a button ──▶ POST /chat ──▶ POST /v1/calls/:id/decision with the digest of what was shown, by the key of who pressed it
 *
 * Chat means Slack, or what speaks like it. Both sides sign text and time; unsigned and old messages are refused, repeated ones have no effect.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { ToolyardError, type ToolyardClient } from '#client';
import { markedText } from '#subject';
import { withToolyards } from './connect.js';

const MIN_WEBHOOK_KEY_BYTES = 24;
const MIN_CHAT_SECRET = 16;
const WHSEC = 'whsec_';

/** `U1=<key>,U2=<key>`. A key that two people share would let one of them allow what the other has submitted. */
const ApproverKeys = z.string().transform((text, context): ReadonlyMap<string, string> => {
  const pairs = text.split(',').map((entry) => /^\s*([^\s=]+)\s*=\s*(\S+)\s*$/.exec(entry)?.slice(1) ?? []);
  const keys = new Map(pairs.map(([user = '', key = '']) => [user, key]));
  if (keys.has('')) context.addIssue('Expected U1=<key>,U2=<key>: the id of each user with an API key of their own');
  else if (keys.size < pairs.length) context.addIssue('A user is named twice');
  else if (new Set(keys.values()).size < keys.size) context.addIssue('Each user needs a key of their own');
  return keys;
});

const Env = z.object({
  PORT: z.coerce.number().default(7500),
  WEBHOOK_SECRET: z
    .string()
    .startsWith(WHSEC)
    .refine((secret) => keyOf(secret).length >= MIN_WEBHOOK_KEY_BYTES, `Expected ${MIN_WEBHOOK_KEY_BYTES} bytes or more in base64`)
    .describe('The key of the webhook in the config file of Toolyard.'),
  CHAT_WEBHOOK_URL: z.url().describe('Where messages are posted: an incoming webhook of the chat.'),
  CHAT_SIGNING_SECRET: z.string().min(MIN_CHAT_SECRET).describe('With which the chat signs the answers of buttons.'),
  CHAT_APPROVERS: ApproverKeys.describe('Who may answer: id of the user in the chat = their API key, separated by commas.'),
});
type Env = z.output<typeof Env>;
/** Clients by user of the chat. Each has a key of their own, so that Toolyard treats them as different persons. */
type Approvers = ReadonlyMap<string, ToolyardClient>;

/** Fields of the webhook's body for this program. */
const Asked = z.object({
  type: z.literal('call.approval_requested'),
  data: z.object({
    url: z.string().optional(),
    call: z.object({
      id: z.string(),
      tool: z.string(),
      status: z.string(),
      agentId: z.string().optional(),
      sessionId: z.string().optional(),
      arguments: z.unknown(),
      approval: z.object({ digest: z.string(), reasons: z.array(z.unknown()).default([]) }).optional(),
    }),
  }),
});

const Answer = z.object({
  user: z.object({ id: z.string() }),
  response_url: z.url(),
  actions: z.array(z.object({ action_id: z.enum(['allow', 'deny']), value: z.string() })).length(1),
});
const Question = z.object({ callId: z.string(), digest: z.string() });

const MAX_AGE_S = 5 * 60;
const MAX_BODY = 1_000_000;
/** A chat cuts longer texts: what is not shown whole is not allowed from here. */
const MAX_SHOWN = 2_500;

class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Refuses what is old, and knows what was there before: a signature counts once. */
class Fresh {
  private readonly seen = new Map<string, number>();

  /** True for a new id. @throws Refused for an old message */
  take(id: string, sentAtS: number): boolean {
    const now = Date.now() / 1000;
    if (!(Math.abs(now - sentAtS) <= MAX_AGE_S)) throw new Refused(401, 'The message is too old, or of the future');
    for (const [known, at] of this.seen) if (now - at > 2 * MAX_AGE_S) this.seen.delete(known);
    if (this.seen.has(id)) return false;
    this.seen.set(id, now);
    return true;
  }

  /** Removes the id, since a failed message may be sent again. */
  forget(id: string): void {
    this.seen.delete(id);
  }
}

const keyOf = (secret: string) => Buffer.from(secret.slice(WHSEC.length), 'base64');
const same = (given: string, expected: string) =>
  Buffer.byteLength(given) === Buffer.byteLength(expected) && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
const header = (headers: IncomingHttpHeaders, name: string) => String(headers[name] ?? '');

/** Standard Webhooks: HMAC-SHA256 over id, time and body. Returns the id; undefined for what was here before. @throws Refused */
function verifyWebhook(headers: IncomingHttpHeaders, body: string, secret: string, fresh: Fresh): string | undefined {
  const [id, sentAt] = [header(headers, 'webhook-id'), header(headers, 'webhook-timestamp')];
  const expected = `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${sentAt}.${body}`).digest('base64')}`;
  const given = header(headers, 'webhook-signature').split(' ');
  if (!given.some((signature) => same(signature, expected))) throw new Refused(401, 'The signature is not that of Toolyard');
  return fresh.take(id, Number(sentAt)) ? id : undefined;
}

/** Verifies Slack's signature: HMAC-SHA256 over version, time and body. @throws Refused */
function verifyChat(headers: IncomingHttpHeaders, body: string, secret: string, fresh: Fresh): void {
  const [given, sentAt] = [header(headers, 'x-slack-signature'), header(headers, 'x-slack-request-timestamp')];
  const expected = `v0=${createHmac('sha256', secret).update(`v0:${sentAt}:${body}`).digest('hex')}`;
  if (!same(given, expected)) throw new Refused(401, 'The signature is not that of the chat');
  if (!fresh.take(given, Number(sentAt))) throw new Refused(409, 'The answer was here before');
}

/** No text of an agent becomes a link, a mention or the end of its block. */
const quoted = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('`', 'ˋ');

/** Value with its texts and names marked as in the dashboard: hidden characters written out, names of mixed alphabets marked. */
function marked(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return markedText(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [markedText(name), member]));
}

function messageOf({ url, call }: z.output<typeof Asked>['data'], digest: string): object {
  const shown = quoted(JSON.stringify(call.arguments, marked, 2) ?? 'none');
  const whole = shown.length <= MAX_SHOWN;
  const who = quoted(`${call.agentId ?? 'a program'} · session ${call.sessionId ?? 'none'}`);
  const page = url === undefined ? `toolyard show ${call.id}` : `<${url}>`;
  const text = `*${quoted(call.tool)}* · ${who}\n\`\`\`${shown.slice(0, MAX_SHOWN)}\`\`\`\n${page}`;
  const value = JSON.stringify({ callId: call.id, digest });
  const button = (action_id: string, label: string) => ({ type: 'button', action_id, value, text: { type: 'plain_text', text: label } });
  const elements = [...(whole ? [button('allow', 'Allow')] : []), button('deny', 'Deny')];
  const cut = { type: 'section', text: { type: 'mrkdwn', text: 'Not all of it is shown: allow it on its page.' } };
  const blocks = [{ type: 'section', text: { type: 'mrkdwn', text } }, ...(whole ? [] : [cut]), { type: 'actions', elements }];
  return { text: `${quoted(call.tool)} waits for a person`, blocks };
}

async function post(url: string, message: object): Promise<void> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(message) };
  const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Refused(502, `The chat answered ${response.status}`);
}

async function ask(env: Env, fresh: Fresh, headers: IncomingHttpHeaders, body: string): Promise<void> {
  const id = verifyWebhook(headers, body, env.WEBHOOK_SECRET, fresh);
  if (id === undefined) return;
  const asked = Asked.safeParse(JSON.parse(body));
  // Ignores other types, and requests that were answered before this arrived.
  const digest = asked.data?.data.call.approval?.digest;
  if (!asked.success || digest === undefined || asked.data.data.call.status !== 'waiting_approval') return;
  try {
    await post(env.CHAT_WEBHOOK_URL, messageOf(asked.data.data, digest));
  } catch (error) {
    fresh.forget(id); // Toolyard sends it again.
    throw error;
  }
}

async function answer(env: Env, approvers: Approvers, fresh: Fresh, headers: IncomingHttpHeaders, body: string): Promise<void> {
  verifyChat(headers, body, env.CHAT_SIGNING_SECRET, fresh);
  const { user, response_url, actions } = Answer.parse(JSON.parse(new URLSearchParams(body).get('payload') ?? '{}'));
  if (new URL(response_url).host !== new URL(env.CHAT_WEBHOOK_URL).host) throw new Refused(403, 'The answer goes to another host');
  const [action] = actions;
  if (action === undefined) return;
  const toolyard = approvers.get(user.id);
  if (toolyard === undefined) {
    await post(response_url, { replace_original: false, text: 'You may not answer this.' });
    return;
  }
  const { callId, digest } = Question.parse(JSON.parse(action.value));
  const decision = action.action_id;
  try {
    // The digest binds the answer to what was shown: another question of the same call is not answered by it.
    await toolyard.calls.decide(callId, { decision, digest, reason: `answered in chat by ${user.id}` });
    await post(response_url, {
      replace_original: true,
      text: `${decision === 'allow' ? 'Allowed' : 'Denied'} by <@${user.id}>: ${callId}`,
    });
  } catch (error) {
    if (!(error instanceof ToolyardError)) throw error;
    await post(response_url, { replace_original: false, text: `Not answered: ${quoted(error.message)}` });
  }
}

async function serve(env: Env, approvers: Approvers): Promise<void> {
  const [fromToolyard, fromChat] = [new Fresh(), new Fresh()];
  const server = createServer((request, response) => {
    const handle = async () => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8'))
        if ((body += String(chunk)).length > MAX_BODY) throw new Refused(413, 'The message is too large');
      if (request.method === 'POST' && request.url === '/toolyard') await ask(env, fromToolyard, request.headers, body);
      else if (request.method === 'POST' && request.url === '/chat') await answer(env, approvers, fromChat, request.headers, body);
      else throw new Refused(404, 'POST /toolyard or /chat');
    };
    handle().then(
      () => response.writeHead(200).end(),
      (error: unknown) => {
        const status = error instanceof Refused ? error.status : error instanceof z.ZodError || error instanceof SyntaxError ? 400 : 502;
        console.error(`${request.url} refused: ${error instanceof Error ? error.message : String(error)}`);
        response.writeHead(status).end();
      },
    );
  });
  await new Promise<void>((listening) => server.listen(env.PORT, '127.0.0.1', listening));
  const address = server.address();
  console.log(`Approvals go to the chat; listening on 127.0.0.1:${typeof address === 'object' ? address?.port : address}`);
  await new Promise<void>((stop) => process.once('SIGTERM', stop).once('SIGINT', stop));
  server.close();
}

const env = Env.safeParse(process.env);
if (env.success) await withToolyards(env.data.CHAT_APPROVERS, (approvers) => serve(env.data, approvers));
else {
  console.error(z.prettifyError(env.error));
  process.exitCode = 1;
}
