import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch, Call, Problem } from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const GITHUB = 'ghp_9z8y7x6w5v4u3t2s1r0q9z8y7x6w5v4u3t2s';

let tenant: Tenant;
let agent: Agent;
let sessions = 0;

beforeAll(async () => {
  tenant = await useTenant('approval-edit');
  agent = tenant.agent;
});
afterAll(() => tenant?.close());

const file = (sessionId: string, name: string) => join(tenant.workspaceOf(sessionId), name);
const decide = (id: string, body: object, by = agent) =>
  by.request<Call & Omit<Problem, 'status'>>('POST', `/v1/calls/${id}/decision`, body);
const edit = (id: string, args: object, by = agent) => decide(id, { decision: 'allow', arguments: args }, by);

async function session(more: object = {}): Promise<string> {
  const sessionId = `edit-${++sessions}`;
  await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' }, ...more });
  return sessionId;
}

async function asked(sessionId: string, args: object = { path: 'a.txt', content: 'submitted' }, headers = {}): Promise<Call> {
  const { body } = await agent.submit('file_write', args, { sessionId }, headers);
  expect(body.status).toBe('waiting_approval');
  return body;
}

describe('a call that is allowed with edited arguments', () => {
  it('runs exactly the edited arguments of an allowed call, logs who changed what, and keeps its idempotency key', async () => {
    const sessionId = await session();
    const key = { 'Idempotency-Key': 'edited-once' };
    const { id, approval } = await asked(sessionId, undefined, key);
    const { status, body } = await edit(id, { path: 'b.txt', content: 'edited' });
    expect([status, body.status]).toEqual([200, 'queued']);

    const ended = await agent.ended(id);
    expect(ended).toMatchObject({ outcome: 'completed', arguments: { path: 'b.txt', content: 'edited' } });
    expect(readFileSync(file(sessionId, 'b.txt'), 'utf8')).toBe('edited');
    expect(existsSync(file(sessionId, 'a.txt'))).toBe(false);
    const changes = [
      { pointer: '/path', before: '"a.txt"', after: '"b.txt"' },
      { pointer: '/content', before: '"submitted"', after: '"edited"' },
    ];
    expect(ended.approval?.decided).toMatchObject({ decision: 'allow', scope: 'once', edited: { changes } });
    const events = await agent.events(id);
    const decided = events.find(({ type }) => type === 'call.approval_decided');
    expect(decided).toMatchObject({ actor: expect.stringContaining('apikey:'), data: { digest: approval?.digest, edited: { changes } } });
    expect(events.find(({ type }) => type === 'call.start')?.data).toEqual({ tool: 'file_write', worker: expect.any(String) });

    const again = await agent.submit('file_write', { path: 'a.txt', content: 'submitted' }, { sessionId }, key);
    expect(again.body.id).toBe(id);
    const { body: replay } = await agent.request('POST', `/v1/calls/${id}/replay`);
    expect(replay).toMatchObject({ replayOf: id, arguments: { path: 'b.txt', content: 'edited' } });
  });

  it('runs large edited arguments, and ones with secrets, which no reader sees', async () => {
    const sessionId = await session();
    const [large, secret] = [await asked(sessionId), await asked(sessionId, { path: 'a.txt', content: `token ${GITHUB}` })];
    const content = 'ü'.repeat(20_000);
    expect((await edit(large.id, { path: 'large.txt', content })).status).toBe(200);
    expect(await agent.ended(large.id)).toMatchObject({ outcome: 'completed', arguments: { content } });
    expect(readFileSync(file(sessionId, 'large.txt'), 'utf8')).toBe(content);

    const other = GITHUB.toUpperCase().replace('GHP', 'ghp');
    expect((await edit(secret.id, { path: 'secret.txt', content: `token ${other}` })).status).toBe(200);
    const ended = await agent.ended(secret.id);
    expect(ended).toMatchObject({ outcome: 'completed', argumentsRedacted: true, arguments: { content: 'token [REDACTED]' } });
    expect(readFileSync(file(sessionId, 'secret.txt'), 'utf8')).toBe(`token ${other}`);
    const seen = JSON.stringify([ended, await agent.events(secret.id)]);
    expect([seen.includes(GITHUB), seen.includes(other)]).toEqual([false, false]);
  });

  it('accepts edited arguments with an approval over WebSocket, too', async () => {
    const sessionId = await session();
    const { id } = await asked(sessionId);
    const stream = await agent.stream();
    const args = { path: 'ws.txt', content: 'by frame' };
    stream.send({ op: 'decide', id: 'd', callId: id, decision: 'allow', scope: 'once', arguments: args });
    expect(await stream.frame('ok', 'd')).toMatchObject({ op: 'ok', call: { arguments: args } });
    stream.close();
    expect((await agent.ended(id)).outcome).toBe('completed');
    expect(readFileSync(file(sessionId, 'ws.txt'), 'utf8')).toBe('by frame');
  });

  it('waits for the other answers of the batch after an edit, and then runs the edited arguments', async () => {
    const sessionId = await session();
    const call = (path: string) => ({ tool: 'file_write', arguments: { path, content: path } });
    const body = { sessionId, onFailure: 'abort', strategy: { type: 'parallel' }, calls: [call('one'), call('two')] };
    const { body: batch } = await agent.request<Batch>('POST', '/v1/batches', body);
    const ids = await eventually(async () => {
      const { calls } = (await agent.get<{ calls: Call[] }>('/v1/approvals')).body;
      const waiting = calls.filter(({ batchId }) => batchId === batch.id);
      return waiting.length === 2 ? waiting : undefined;
    }, 'both calls to wait');
    const [one, two] = ['one', 'two'].map((path) => ids.find(({ arguments: args }) => JSON.stringify(args).includes(path))?.id ?? '');
    expect((await edit(one ?? '', { path: 'uno', content: 'x'.repeat(7_000) })).body.status).toBe('waiting_approval');
    expect((await decide(two ?? '', { decision: 'allow' })).status).toBe(200);
    const done = await agent.get<Batch>(`/v1/batches/${batch.id}?wait=30`);
    expect(done.body.results.map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
    expect(readFileSync(file(sessionId, 'uno'), 'utf8')).toHaveLength(7_000);
    expect(existsSync(file(sessionId, 'one'))).toBe(false);
  });
});

describe('an edit', () => {
  it('refuses an edit of arguments into a denied path or out of the workspace, with reasons, while the call keeps waiting', async () => {
    const sessionId = await session({ grants: { deniedPaths: { read: [], write: ['keys'] } } });
    const { id } = await asked(sessionId);
    for (const path of ['keys', 'x/../keys']) {
      const { status, body } = await edit(id, { path, content: 'x' });
      expect([path, status, body.code]).toEqual([path, 403, 'policy_denied']);
      expect(body.detail).toContain('keys');
    }
    expect((await agent.get(`/v1/calls/${id}`)).body).toMatchObject({ status: 'waiting_approval', arguments: { path: 'a.txt' } });
    expect((await decide(id, { decision: 'deny' })).body.outcome).toBe('denied');
  });

  it('refuses an edit with arguments that the tool does not take, with a pointer to each', async () => {
    const { id } = await asked(await session());
    const { status, body } = await edit(id, { path: 'a', content: 1 });
    expect([status, body.code]).toEqual([422, 'invalid_arguments']);
    expect(body.errors?.map(({ pointer }) => pointer)).toEqual(['/arguments/content']);
    expect((await agent.get(`/v1/calls/${id}`)).body.status).toBe('waiting_approval');
  });

  it('refuses a placeholder in place of a secret in edited arguments', async () => {
    const waiting = await asked(await session(), { path: 'a.txt', content: GITHUB });
    const { status, body } = await edit(waiting.id, { path: 'b.txt', content: '[REDACTED]' });
    expect([status, body.code, body.errors?.[0]?.pointer]).toEqual([422, 'invalid_request', '/arguments']);
  });

  it('accepts edited arguments with allow and once only, and by the scope approve', async () => {
    const { id } = await asked(await session());
    const args = { path: 'b.txt', content: 'x' };
    for (const wrong of [{ decision: 'deny' }, { decision: 'allow', scope: 'session-tool' }]) {
      const { status, body } = await decide(id, { ...wrong, arguments: args });
      expect([status, body.errors?.[0]?.pointer]).toEqual([422, '/arguments']);
    }
    expect((await agent.get(`/v1/calls/${id}`)).body.status).toBe('waiting_approval');
  });

  it('runs the arguments of the first edit among concurrent edits and decisions at two gateways', async () => {
    const sessionId = await session();
    const second = tenant.other;
    for (let round = 0; round < 5; round++) {
      const { id } = await asked(sessionId);
      const answers = await Promise.all([
        edit(id, { path: `first-${round}`, content: 'first' }),
        edit(id, { path: `second-${round}`, content: 'second' }, second),
        decide(id, { decision: 'allow' }, second),
      ]);
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409, 409]);
      const won = answers.find(({ status }) => status === 200)?.body.arguments;
      expect(await agent.ended(id)).toMatchObject({ outcome: 'completed', arguments: won });
      expect(existsSync(file(sessionId, (won as { path: string }).path))).toBe(true);
    }
  });

  it('answers an edit of a call that has ended, or was decided, with a conflict', async () => {
    const { id } = await asked(await session());
    expect((await decide(id, { decision: 'deny' })).status).toBe(200);
    const { status, body } = await edit(id, { path: 'late', content: 'x' });
    expect([status, body.code]).toEqual([409, 'conflict']);
  });
});
