import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readGatewayConfig } from '../../apps/gateway/src/platform/gateway.config.js';
import { Agent, Stream } from '../support/agent.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { connectMcp } from '../support/mcp-clients.js';

const ACME = 'key-repeats-acme';
const key = (name: string) => `key-of-${name}-that-repeats`;

/** The agent `strict` and the key `narrow` may not use `glob`; the keys of the agent `lax` are alike. */
const FILE = {
  keys: [
    { id: 'plain', key: key('plain'), tenant: ACME },
    { id: 'strict', key: key('strict'), tenant: ACME, agent: 'strict' },
    { id: 'lax', key: key('lax'), tenant: ACME, agent: 'lax' },
    { id: 'lax-too', key: key('lax-too'), tenant: ACME, agent: 'lax' },
    { id: 'narrow', key: key('narrow'), tenant: ACME, tools: ['echo'] },
  ],
  tenants: { [ACME]: { agents: { strict: { tools: ['echo'] }, lax: {} } } },
};

describe('an Idempotency-Key that another key of the tenant repeats', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-key-repeats-'));
  let gateway: TestGateway;
  beforeAll(async () => {
    const path = join(folder, 'toolyard.json');
    writeFileSync(path, JSON.stringify(FILE));
    const { keys, tenantRules } = readGatewayConfig({ TOOLYARD_API_KEY: BOOTSTRAP_KEY, TOOLYARD_CONFIG: path });
    gateway = await startTestGateway(ACME, {
      keys: keys.map((entry) => (entry.id === 'bootstrap' ? { ...entry, tenant: ACME } : entry)),
      mcp: { answerMs: 1, taskMs: 1 },
      ...(tenantRules === undefined ? {} : { tenantRules }),
    });
  });
  afterAll(async () => {
    await gateway.close();
    rmSync(folder, { recursive: true });
  });

  const as = (name: string) => new Agent(gateway.url, key(name));
  const glob = (more: object = {}) => ({ tool: 'glob', arguments: { pattern: '*' }, ...more });

  /** Ways of submitting the same call again under the same name; each gives the whole answer as text. */
  const WAYS: readonly (readonly [string, (who: string, name: string) => Promise<string>])[] = [
    ['a call', (who, name) => request(who, '/v1/calls', glob(), { 'idempotency-key': name })],
    ['a toolCallId of a session', (who, name) => request(who, '/v1/calls', glob({ sessionId: 'repeats', toolCallId: name }))],
    ['a batch', (who, name) => request(who, '/v1/batches', { calls: [glob()] }, { 'idempotency-key': name })],
    ['a frame of a WebSocket', submitFrame],
    ['tools/call of MCP', toolsCall],
    ['a child call', (who, name) => request(who, '/v1/calls', glob({ parentCallId: parent }), { 'idempotency-key': name })],
  ];
  let parent = '';
  beforeAll(async () => {
    parent = (await as('plain').submit('echo', {})).body.id;
    await gateway.claim(parent);
  });

  async function request(who: string, path: string, body: object, headers: Record<string, string> = {}): Promise<string> {
    const answer = await as(who).request('POST', path, body, headers);
    return JSON.stringify(answer.body);
  }

  async function submitFrame(who: string, name: string): Promise<string> {
    const stream = new Stream(gateway.url, key(who));
    await stream.opened;
    stream.send({ op: 'submit', id: 1, call: glob(), idempotencyKey: name });
    const answer = await Promise.race([stream.frame('accepted', 1), stream.frame('error', 1)]);
    stream.close();
    return JSON.stringify(answer);
  }

  async function toolsCall(who: string, name: string): Promise<string> {
    const client = await connectMcp('2026-07-28', { key: key(who), urls: [gateway.url] });
    try {
      const meta = { 'io.toolyard/idempotencyKey': name };
      return JSON.stringify(await client.call('glob', { pattern: '*' }, { meta }).catch((error: unknown) => String(error)));
    } finally {
      await client.close();
    }
  }

  /** The id that `plain` gets. */
  async function answeredFirst(way: (who: string, name: string) => Promise<string>, name: string): Promise<string> {
    const [id = ''] = /[0-9a-f]{2}-[0-9A-HJKMNP-TV-Z]{26}/.exec(await way('plain', name)) ?? [];
    return id;
  }

  it.each(WAYS)('refuses a repetition by a key of other tools: %s', async (_way, way) => {
    const name = `narrow-${WAYS.findIndex(([, one]) => one === way)}`;
    const id = await answeredFirst(way, name);
    expect(id).not.toBe('');
    expect(await way('narrow', name)).not.toContain(id);
    expect(await way('plain', name)).toContain(id);
  });

  it.each(WAYS.slice(0, 5))('refuses a repetition by another agent: %s', async (_way, way) => {
    const name = `strict-${WAYS.findIndex(([, one]) => one === way)}`;
    const id = await answeredFirst(way, name);
    expect(id).not.toBe('');
    expect(await way('strict', name)).not.toContain(id);
    expect(await way('plain', name)).toContain(id);
  });

  it('answers a repetition with the same call where agent and tools of both keys are the same', async () => {
    const submit = (who: string) => as(who).request('POST', '/v1/calls', glob(), { 'idempotency-key': 'lax' });
    const first = await submit('lax');
    expect([(await submit('lax-too')).body.id, first.status]).toEqual([first.body.id, 202]);
    expect((await submit('plain')).status).toBe(422);
  });
});
