import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApprovalPage, Call, Problem, Session, ToolDescriptor } from '#contracts';
import type { Agent } from '../support/agent.js';
import { useTenant, type Tenant, type TenantOptions } from '../support/installation/use-tenant.js';

const READER = 'reader';
const SETTINGS = { agents: { [READER]: { tools: ['echo', 'file_*'], policy: { exclude: ['file_write'] } } } };
/** State of a call that a person allowed: workers may have run it meanwhile. */
const ALLOWED = { status: expect.stringMatching(/^(queued|running|ended)$/), approval: { decided: { decision: 'allow' } } };

let tenant: Tenant;
let fourEyes: Tenant;
let agent: Agent;
let sessions = 0;

beforeAll(async () => {
  const approver = { scopes: ['submit', 'read', 'approve'] } satisfies NonNullable<TenantOptions['keys']>[string];
  tenant = await useTenant('governed', {
    keys: { second: approver, narrow: { agent: READER, scopes: ['submit', 'read'] } },
    settings: SETTINGS,
  });
  fourEyes = await useTenant('governed-four-eyes', {
    keys: {
      second: approver,
      third: approver,
      'of-ada': { scopes: ['submit', 'read'], person: 'ada' },
      'also-of-ada': { ...approver, person: 'ada' },
    },
    settings: { approvals: { fourEyes: true } },
  });
  ({ agent } = tenant);
});

afterAll(async () => {
  await tenant?.close();
  await fourEyes?.close();
});

/** A session in which everything that acts is asked for. */
async function asking(by = agent): Promise<string> {
  const id = `asking-${++sessions}`;
  await by.request('PUT', `/v1/sessions/${id}`, { posture: { permissionMode: 'prompt' } });
  return id;
}

const write = (sessionId: string, file = 'a', by = agent) => by.submit('file_write', { path: file, content: 'b' }, { sessionId });
const decide = (callId: string, body: object, by = agent) =>
  by.request<Call & Omit<Problem, 'status'>>('POST', `/v1/calls/${callId}/decision`, body);

describe('a call that waits for a person', () => {
  it('shows reasons, answers, trust options and the expiry of a waiting call, also in the list [EV-09, PP-73, PP-90]', async () => {
    const { body: call } = await write(await asking());
    expect(call).toMatchObject({ status: 'waiting_approval', arguments: { path: 'a', content: 'b' } });
    expect(call.approval).toMatchObject({ reasons: [expect.any(String)], expiresAt: expect.any(String), digest: expect.any(String) });
    expect(call.approval?.options.map(({ label }) => label)).toEqual(expect.arrayContaining(['Yes', 'Always', 'No', 'Never']));
    const { body: page } = await agent.get<ApprovalPage>('/v1/approvals');
    expect(page.calls.find(({ id }) => id === call.id)).toEqual(call);
  });

  it('stores who decided a waiting call, when, how and why [PP-98]', async () => {
    const { body: call } = await write(await asking());
    const { body } = await decide(call.id, { decision: 'deny', reason: 'not on a Friday' });
    expect(body.approval?.decided).toMatchObject({
      decision: 'deny',
      scope: 'once',
      reason: 'not on a Friday',
      by: `apikey:${tenant.keyId('main')}`,
      at: expect.any(String),
    });
    expect(body.result?.content).toEqual([{ type: 'text', text: 'Tool use was denied by the user. Reason: not on a Friday' }]);
    const decided = (await agent.events(call.id)).find(({ type }) => type === 'call.approval_decided');
    expect(decided).toMatchObject({ actor: `apikey:${tenant.keyId('main')}`, data: { reason: 'not on a Friday' } });
  });

  it('refuses an answer to a question that the call does not ask, and keeps waiting', async () => {
    const { body: call } = await write(await asking());
    const { body: another } = await write(await asking(), 'other');
    const digest = another.approval?.digest;
    for (const decision of ['allow', 'deny']) {
      const { status, body } = await decide(call.id, { decision, digest });
      expect([status, body.code]).toEqual([409, 'conflict']);
      expect(body.detail).toContain(digest);
    }
    expect((await agent.get(`/v1/calls/${call.id}`)).body).toMatchObject({ status: 'waiting_approval' });
    expect((await decide(call.id, { decision: 'deny', digest: call.approval?.digest })).body.outcome).toBe('denied');
    expect((await decide(another.id, { decision: 'deny' })).body.outcome).toBe('denied');
  });

  it('runs a tool without asking from an "always" on, on every gateway, until the session ends [DX-05, PP-75, PP-76]', async () => {
    const sessionId = await asking();
    const { body: call } = await write(sessionId);
    expect((await decide(call.id, { decision: 'allow', scope: 'session-tool' })).body).toMatchObject(ALLOWED);
    const elsewhere = await write(sessionId, 'c', tenant.other);
    expect(elsewhere.body).toMatchObject({ status: 'queued', decision: { effect: 'allow' } });
    expect((await agent.get<Session>(`/v1/sessions/${sessionId}`)).body.grants.trustedTools).toEqual(['file_write']);
    expect((await agent.request('DELETE', `/v1/sessions/${sessionId}`)).status).toBe(204);
    await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' } });
    expect((await write(sessionId)).body.status).toBe('waiting_approval');
  });

  it('refuses a tool without asking from a "never" on, with the reason [PP-77]', async () => {
    const sessionId = await asking();
    const { body: call } = await write(sessionId);
    expect((await decide(call.id, { decision: 'deny', scope: 'session-tool' })).body).toMatchObject({ outcome: 'denied' });
    const again = await agent.request<Problem>('POST', '/v1/calls', {
      tool: 'file_write',
      arguments: { path: 'x', content: '' },
      sessionId,
    });
    expect([again.status, again.body.code]).toEqual([403, 'policy_denied']);
    expect(again.body.detail).toContain('Tool was denied by user');
  });

  it('runs a command again without asking when its program was trusted, and asks for others [PP-79]', async () => {
    const sessionId = `supervised-${++sessions}`;
    await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
    const run = (command: string) => agent.submit('shell', { command }, { sessionId });
    const { body: call } = await run('git pull --rebase');
    expect(call.approval?.trustOptions.map(({ display }) => display)).toEqual(['git pull --rebase', 'git pull *', 'git *']);
    await decide(call.id, { decision: 'allow', scope: 'session-args', trustOption: 'command-partial' });
    expect((await run('git pull')).body.status).toBe('queued');
    expect((await run('git push')).body.status).toBe('waiting_approval');
  });

  it('refuses an ungrantable option of an approval, with the grantable ones', async () => {
    const { body: call } = await write(await asking());
    const unknown = await decide(call.id, { decision: 'allow', scope: 'session-args', trustOption: 'the-moon' });
    expect([unknown.status, unknown.body.code]).toEqual([422, 'invalid_request']);
    expect((await agent.get(`/v1/calls/${call.id}`)).body.status).toBe('waiting_approval');
  });

  it('loses no grant when many are given at once on two gateways [DX-05]', async () => {
    const sessionId = await asking();
    const calls = await Promise.all(Array.from({ length: 12 }, (_nothing, n) => write(sessionId, `dir-${n}/deep/er/file`)));
    const answers = await Promise.all(
      calls.map(({ body }, n) =>
        decide(body.id, { decision: 'allow', scope: 'session-args' }, n % 2 ? tenant.agentOf('second', tenant.otherUrl) : agent),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect((await agent.get<Session>(`/v1/sessions/${sessionId}`)).body.grants.literalPaths?.allowed.write).toHaveLength(12);
  });

  it('accepts decisions over WebSocket as over HTTP, from keys that may approve', async () => {
    const { body: call } = await write(await asking());
    const stream = await agent.stream();
    stream.send({ op: 'decide', id: 1, callId: call.id, decision: 'allow' });
    expect((await stream.frame('ok', 1)).call).toMatchObject({ id: call.id, ...ALLOWED });
    stream.send({ op: 'decide', id: 2, callId: call.id, decision: 'allow' });
    expect((await stream.frame('error', 2)).problem).toMatchObject({ code: 'conflict' });
    stream.close();
    expect((await decide(call.id, { decision: 'allow' }, tenant.agentOf('narrow'))).status).toBe(403);
  });

  it('refuses an approval by another key of the same person under four eyes', async () => {
    const { body } = await write(await asking(fourEyes.agent), 'a', fourEyes.agentOf('of-ada'));
    const own = await decide(body.id, { decision: 'allow' }, fourEyes.agentOf('also-of-ada'));
    expect(own).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await decide(body.id, { decision: 'allow' }, fourEyes.agentOf('third'))).body).toMatchObject(ALLOWED);
  });

  it('accepts an approval only from another key under four eyes; the call’s own key may cancel it', async () => {
    const asked = async () => write(await asking(fourEyes.agent), 'a', fourEyes.agent);
    const [first, second] = [await asked(), await asked()];
    const own = await decide(first.body.id, { decision: 'allow' }, fourEyes.agent);
    expect([own.status, own.body.code]).toEqual([403, 'forbidden']);
    expect((await decide(first.body.id, { decision: 'allow' }, fourEyes.agentOf('second'))).body).toMatchObject(ALLOWED);
    expect((await decide(second.body.id, { decision: 'deny' }, fourEyes.agent)).body.outcome).toBe('denied');
  });

  it('refuses an approval by a submitter of any earlier replay of the call', async () => {
    const { body: first } = await write(await asking(fourEyes.agent), 'a', fourEyes.agent);
    const replay = async (callId: string, by: Agent) => {
      const { status, body } = await by.request('POST', `/v1/calls/${callId}/replay`, { arguments: { path: 'b', content: 'c' } });
      expect([status, body.status]).toEqual([202, 'waiting_approval']);
      return body;
    };
    const second = await replay(first.id, fourEyes.agentOf('second'));
    const third = await replay(second.id, fourEyes.agentOf('second'));
    for (const { id } of [second, third])
      for (const by of [fourEyes.agent, fourEyes.agentOf('second')]) {
        const { status, body } = await decide(id, { decision: 'allow' }, by);
        expect([status, body.code]).toEqual([403, 'forbidden']);
      }
    expect((await decide(third.id, { decision: 'allow' }, fourEyes.agentOf('third'))).body).toMatchObject(ALLOWED);
    expect((await decide(second.id, { decision: 'deny' }, fourEyes.agent)).body.outcome).toBe('denied');
  });

  it('decides a waiting call once, and explains every other decision [PP-92]', async () => {
    const { body: call } = await write(await asking());
    expect((await decide(call.id, { decision: 'allow' })).status).toBe(200);
    const again = await decide(call.id, { decision: 'deny' });
    expect(again).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/^The call is (queued|running|ended): it does not wait/) },
    });
    const nobodys = await decide(call.id.slice(0, -4) + '0000', { decision: 'allow' });
    expect(nobodys).toMatchObject({ status: 404, body: { code: 'resource_not_found' } });
    const unknown = await decide((await write(await asking())).body.id, {
      decision: 'allow',
      scope: 'session-args',
      trustOption: 'nothing',
    });
    expect(unknown.status).toBe(422);
  });

  it('ends a cancelled waiting call, which cannot be allowed afterwards [PP-97]', async () => {
    const { body: call } = await write(await asking());
    const { body } = await agent.request('POST', `/v1/calls/${call.id}/cancel`);
    expect(body).toMatchObject({
      outcome: 'cancelled',
      result: { content: [{ type: 'text', text: 'Tool use was cancelled by the user' }], isError: true },
    });
    expect((await decide(call.id, { decision: 'allow' })).status).toBe(409);
  });
});

describe('what an agent and a session have', () => {
  it('offers an agent and a session the same tools in the catalog and at the call, with the reason [AV-15]', async () => {
    const reader = tenant.agentOf('narrow');
    const { body } = await reader.get<{ tools: ToolDescriptor[] }>('/v1/tools');
    const shell = body.tools.find(({ name }) => name === 'shell');
    expect(shell?.available).toEqual({ ok: false, reason: expect.stringContaining('echo, file_*') });
    expect(body.tools.find(({ name }) => name === 'file_write')?.available.ok).toBe(false);
    expect(body.tools.find(({ name }) => name === 'file_read')?.available).toEqual({ ok: true });
    const refused = await reader.request<Problem>('POST', '/v1/calls', { tool: 'shell', arguments: { command: 'ls' } });
    expect([refused.status, refused.body.code]).toEqual([403, 'policy_denied']);
    expect(refused.body.detail).toContain(shell?.available.reason);
  });

  it('narrows the tools of an agent by those of a session, and widens them only by its settings [AV-03, AV-04, AV-05, AV-06, AV-07]', async () => {
    await agent.request('PUT', '/v1/sessions/narrow', { tools: ['echo'] });
    const { body } = await agent.get<{ tools: { name: string }[] }>('/v1/tools?format=anthropic&sessionId=narrow');
    expect(body.tools.map(({ name }) => name)).toEqual(['echo']);
    expect((await agent.submit('glob', { pattern: '*' }, { sessionId: 'narrow' })).status).toBe(403);
    await agent.request('PUT', '/v1/sessions/narrow', { tools: null });
    expect((await agent.submit('glob', { pattern: '*' }, { sessionId: 'narrow' })).status).toBe(202);
  });

  it('trusts, distrusts and resets a tool for a session by an administrator, by any name of the tool and by no other [PP-89]', async () => {
    const sessionId = await asking();
    const put = (grants: object) => agent.request<Session & Problem>('PUT', `/v1/sessions/${sessionId}`, { grants });
    expect((await put({ trustedTools: ['file_write', 'bash'], deniedTools: [] })).body.grants.trustedTools).toEqual([
      'file_write',
      'shell',
    ]);
    expect((await write(sessionId)).body.status).toBe('queued');
    const wrong = await put({ trustedTools: ['file_write'], deniedTools: ['shel', 'no_such_tool'] });
    expect(wrong.status).toBe(422);
    expect(wrong.body.errors).toEqual([
      { pointer: '/grants/deniedTools/0', message: expect.stringContaining('No tool is called "shel"; did you mean shell') },
      { pointer: '/grants/deniedTools/1', message: expect.stringContaining('No tool is called "no_such_tool"') },
    ]);
    expect((await put({ deniedTools: ['file_write'] })).status).toBe(200);
    expect((await write(sessionId)).status).toBe(403);
    await put({});
    expect((await write(sessionId)).body.status).toBe('waiting_approval');
  });

  it('runs a tool without a question if a session allows it', async () => {
    const sessionId = await asking();
    await agent.request('PUT', `/v1/sessions/${sessionId}`, { allowedTools: ['file_*'] });
    expect((await write(sessionId)).body).toMatchObject({ status: 'queued' });
  });
});

describe('the configuration of a tenant', () => {
  it('limits the egress of an edited call to the rules for the new arguments', async () => {
    const { body: call } = await agent.submit('web_fetch', { url: 'https://example.org/' }, { sessionId: await asking() });
    expect(call.status).toBe('waiting_approval');
    await tenant.configure({ ...SETTINGS, policy: { egress: { blockedDomains: ['example.com'] } } });
    const { status } = await decide(call.id, { decision: 'allow', arguments: { url: 'https://example.org/edited' } });
    await tenant.configure(SETTINGS);
    expect(status).toBe(200);
    const [first, ...later] = await agent.events(call.id);
    const submitted = first?.type === 'call.submitted' ? first.data.egress : undefined;
    const decided = later.flatMap((event) => (event.type === 'call.approval_decided' ? [event.data.edited?.egress] : []));
    expect(submitted).toEqual(expect.any(String));
    expect(decided).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect(decided).not.toEqual([submitted]);
  });
});
