import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const sha256 = (key: string) => createHash('sha256').update(key).digest('hex');

describe('bad input at every interface', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  beforeAll(async () => {
    const all = ['submit', 'read', 'cancel', 'approve', 'admin'];
    const config = {
      keys: [
        { id: 'other', sha256: sha256('other-tenant-key'), tenant: 'other', scopes: all },
        { id: 'old', sha256: sha256('expired-key'), tenant: 'default', scopes: all, expiresAt: '2020-01-01T00:00:00.000Z' },
        { id: 'reader', sha256: sha256('reader-key'), tenant: 'default', scopes: ['read'] },
        { id: 'slow', sha256: sha256('slow-key'), tenant: 'default', scopes: all, ratePerMinute: 3 },
      ],
    };
    toolyard = await startTestCluster({ lists: true, config });
    agent = toolyard.agent;
  });
  afterAll(() => toolyard.close());

  it('names near tools for an unknown one, as a problem and as a result for the model [CC-44]', async () => {
    const answer = await agent.submit('file_raed', {});
    expect(answer).toMatchObject({
      status: 404,
      body: {
        code: 'not_found',
        callId: expect.any(String),
        result: { isError: true, content: [{ type: 'text', text: expect.stringContaining('file_read') }] },
      },
    });
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
  });

  it('lists every violation of the arguments with its pointer [CC-51]', async () => {
    const { status, body } = await agent.request<{ code: string; errors: { pointer: string }[]; result: object }>('POST', '/v1/calls', {
      tool: 'file_read',
      arguments: { path: 7, limit: 'many' },
    });
    expect([status, body.code]).toEqual([422, 'invalid_arguments']);
    expect(body.errors.map((error) => error.pointer).sort()).toEqual(['/arguments/limit', '/arguments/path']);
  });

  it.each([
    ['broken JSON', '{"tool": "echo", ', 400, 'malformed_json'],
    ['a 2 MB body', JSON.stringify({ tool: 'echo', arguments: { a: 'x'.repeat(2_000_000) } }), 413, 'payload_too_large'],
    ['JSON a thousand levels deep', `{"tool":"echo","arguments":{"a":${'['.repeat(1000)}${']'.repeat(1000)}}}`, 422, 'invalid_request'],
    ['__proto__ keys', '{"tool":"echo","arguments":{"__proto__":{"admin":true}}}', 400, 'malformed_json'],
    ['an unknown field', '{"tool":"echo","surprise":1}', 422, 'invalid_request'],
    ['arguments of the wrong kind', '{"tool":"echo","arguments":[1]}', 422, 'invalid_request'],
    ['thousands of unknown fields', `{${Array.from({ length: 5_000 }, (_, n) => `"f${n}":0`).join()}}`, 422, 'invalid_request'],
    ['a session id that is a path', '{"tool":"echo","sessionId":"../x"}', 422, 'invalid_request'],
  ])('answers bad input, %s, with the documented problem, readable for a model [DX-12]', async (_name, body, status, code) => {
    const answer = await agent.request<Problem>('POST', '/v1/calls', body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    const { detail, result, callId } = answer.body;
    expect(detail.length).toBeGreaterThan(10);
    const text = detail.length <= 2_000 ? detail : `${detail.slice(0, 2_000)} …`;
    expect([result, callId]).toEqual([{ isError: true, content: [{ type: 'text', text }] }, undefined]);
  });

  it.each([
    ['JSON a thousand levels deep', `"arguments":{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`, 'invalid_request'],
    ['__proto__ keys', '"arguments":{"__proto__":{}}', 'malformed_json'],
    ['an unknown field', '"surprise":1', 'invalid_request'],
    ['a session id that is a path', '"sessionId":"../x"', 'invalid_request'],
  ])('answers a submit frame with %s as the same problem', async (_name, member, code) => {
    const stream = await agent.stream();
    stream.socket.send(`{"op":"submit","id":"s","call":{"tool":"echo",${member}}}`);
    const { problem } = await stream.frame('error', 's');
    expect(problem).toMatchObject({ code, result: { isError: true, content: [{ type: 'text', text: problem.detail }] } });
    stream.close();
  });

  it('accepts a body that begins with a byte order mark, and no other place for one', async () => {
    const post = (path: string, text: string) => agent.request<Partial<Problem>>('POST', path, text, { prefer: 'wait=20' });
    const call = JSON.stringify({ tool: 'echo', arguments: { a: 1 } });
    expect(await post('/v1/calls', `\ufeff${call}`)).toMatchObject({ body: { outcome: 'completed' } });
    expect((await post('/v1/calls:quote', `\ufeff${call}`)).status).toBe(200);
    expect((await post('/v1/batches', `\ufeff{"calls":[${call}]}`)).status).toBeLessThan(300);
    expect((await agent.request('PUT', '/v1/sessions/marked', '\ufeff{"posture":{"autonomy":"full"}}')).status).toBe(200);
    for (const text of [`\ufeff\ufeff${call}`, `${call}\ufeff`, '\ufeff{'])
      expect(await post('/v1/calls', text)).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
    expect((await post('/v1/calls', '\ufeff')).status).toBe((await post('/v1/calls', '')).status);
  });

  it('refuses an unknown, an expired and a too weak key', async () => {
    const as = (key: string) => new Agent(agent.url, key).submit('echo', {});
    expect(await as('no-such-key')).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(await as('expired-key')).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(await as('reader-key')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  it('limits the rate of a key and states when to retry', async () => {
    const slow = new Agent(agent.url, 'slow-key');
    const answers = [];
    for (let n = 0; n < 4; n++) answers.push(await slow.submit('echo', { n }));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 429]);
    expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answers[0]?.headers.get('ratelimit')).toBeTruthy();
  });

  it("answers another tenant's ids as if they did not exist, at every route [DX-08]", async () => {
    const mine = await agent.run('echo', { secret: 1 });
    const other = new Agent(agent.url, 'other-tenant-key');
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/events'],
      ['GET', '/output'],
      ['POST', '/cancel'],
      ['POST', '/replay'],
      ['POST', '/decision'],
    ] as const) {
      const body = method === 'GET' ? undefined : path === '/decision' ? { decision: 'allow' } : {};
      const answer = await other.request<{ code: string }>(method, `/v1/calls/${mine.id}${path}`, body);
      expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'resource_not_found']);
    }
    expect((await other.get<{ calls: unknown[] }>('/v1/calls')).body.calls).toEqual([]);
    const stream = await other.stream();
    stream.send({ op: 'subscribe', id: 'spy', filter: {} });
    await stream.frame('subscribed', 'spy');
    await agent.run('echo', { secret: 2 });
    await other.run('echo', { own: true });
    await eventually(() => stream.events('spy').some(({ event }) => event.type === 'call.end'), "the other tenant's own End");
    expect(stream.events('spy').every(({ event }) => event.tenantid === 'other')).toBe(true);
    stream.close();
  });

  it('confines file tools to the workspace, for any path [PP-20, PP-25, TB-20]', async () => {
    const workspace = join(toolyard.workspaceRoot, 'default', 'sessions', 'escape');
    await agent.run('file_write', { path: 'inside.txt', content: 'fine' }, { sessionId: 'escape' });
    writeFileSync(join(toolyard.workspaceRoot, 'outside.txt'), 'secret');
    symlinkSync(join(toolyard.workspaceRoot, 'outside.txt'), join(workspace, 'link.txt'));
    symlinkSync(toolyard.workspaceRoot, join(workspace, 'linked'));
    const paths = [
      '../../../outside.txt',
      '/etc/passwd',
      'link.txt',
      'linked/outside.txt',
      'a/../../../../outside.txt',
      '~/x',
      'inside.txt\0.png',
      '//etc/passwd',
    ];
    for (const path of paths) {
      const call = await agent.run('file_read', { path }, { sessionId: 'escape' });
      expect([path, call.outcome === 'completed', JSON.stringify(call).includes('secret'), JSON.stringify(call).includes('root:')]).toEqual(
        [path, false, false, false],
      );
    }
    const write = await agent.run('file_write', { path: 'link.txt', content: 'overwritten' }, { sessionId: 'escape' });
    expect(write.result?.isError).toBe(true);
  });

  it.each([
    'http://127.0.0.1:6379/',
    'http://localhost/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'http://user:pass@127.0.0.1/',
  ])('refuses to fetch %s [PP-45]', async (url) => {
    const call = await agent.run('web_fetch', { url });
    expect(call).toMatchObject({ outcome: 'denied', error: { code: 'policy_denied' }, result: { isError: true } });
  });

  it('answers malformed frames with an error frame and continues', async () => {
    const stream = await agent.stream();
    for (const frame of ['{', '[]', '"text"', '{"op":"fly","id":1}', '{"op":"subscribe"}', '{"op":"subscribe","id":1,"filter":{"nope":1}}'])
      stream.socket.send(frame);
    await eventually(() => stream.frames.filter(({ frame }) => frame.op === 'error').length === 6, 'six error frames');
    stream.send({ op: 'ping', id: 'still here' });
    await stream.frame('pong');
    stream.close();
  });

  it('closes a socket that sends a frame over the limit, and only that one', async () => {
    const [big, small] = [await agent.stream(), await agent.stream()];
    big.socket.send('x'.repeat(2_000_000));
    await eventually(() => big.closed, 'the close');
    expect(big.closed?.code).toBe(1009);
    small.send({ op: 'ping' });
    await small.frame('pong');
    small.close();
  });

  it('leaves other calls undisturbed by bad input', async () => {
    expect((await agent.run('echo', { still: 'fine' })).outcome).toBe('completed');
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });
});
