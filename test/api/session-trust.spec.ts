import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, Problem, Scope, Session } from '#contracts';
import type { Agent } from '../support/agent.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const SCOPES: Scope[] = ['submit', 'read', 'cancel', 'approve', 'admin'];

let tenant: Tenant;
let fourEyes: Tenant;
let sessions = 0;

beforeAll(async () => {
  tenant = await useTenant('session-trust');
  fourEyes = await useTenant('session-trust-four-eyes', {
    keys: { keeper: { scopes: ['read', 'approve', 'admin'] }, person: { scopes: SCOPES }, submitter: { scopes: SCOPES } },
    settings: { approvals: { fourEyes: true }, posture: { autonomy: 'supervised', permissionMode: 'prompt' } },
  });
});

afterAll(async () => {
  await tenant?.close();
  await fourEyes?.close();
});

const put = (agent: Agent, id: string, body: object) => agent.request<Session>('PUT', `/v1/sessions/${id}`, body);
const decide = (agent: Agent, id: string, body: object) => agent.request('POST', `/v1/calls/${id}/decision`, body);
const write = (agent: Agent, sessionId: string) => agent.submit('file_write', { path: 'a.txt', content: 'x' }, { sessionId });
const codeOf = ({ body }: { body: unknown }) => (body as Problem).code;

/** A session in which everything that acts is asked for, and a call of it that waits. */
async function asked(agent: Agent, more: object = {}): Promise<{ sessionId: string; waiting: Call }> {
  const sessionId = `trust-${++sessions}`;
  await put(agent, sessionId, { posture: { autonomy: 'supervised', permissionMode: 'prompt' }, ...more });
  const { body: waiting } = await write(agent, sessionId);
  expect(waiting.status).toBe('waiting_approval');
  return { sessionId, waiting };
}

describe('a grant', () => {
  it('revives no grant of a deleted session by a repeated decision, nor by an earlier call', async () => {
    const { agent } = tenant;
    const { sessionId, waiting } = await asked(agent);
    const { body: second } = await write(agent, sessionId);
    const always = { decision: 'allow', scope: 'session-tool' };
    expect((await decide(agent, waiting.id, always)).status).toBe(200);
    expect((await decide(agent, waiting.id, always)).status).toBe(200);
    const { body: granted } = await agent.get<Session>(`/v1/sessions/${sessionId}`);
    expect(granted.grants.trustedTools).toEqual(['file_write']);

    expect((await agent.request('DELETE', `/v1/sessions/${sessionId}`)).status).toBe(204);
    const repeated = await decide(agent, waiting.id, always);
    expect([repeated.status, codeOf(repeated)]).toEqual([409, 'conflict']);
    const before = await decide(agent, second.id, always);
    expect([before.status, codeOf(before)]).toEqual([409, 'conflict']);
    expect((await agent.get<Session>(`/v1/sessions/${sessionId}`)).body.grants.trustedTools).toEqual([]);
    expect((await agent.get(`/v1/calls/${second.id}`)).body.status).toBe('waiting_approval');
    expect((await decide(agent, second.id, { decision: 'allow' })).status).toBe(200);

    const again = await asked(agent);
    await agent.request('DELETE', `/v1/sessions/${again.sessionId}`);
    await put(agent, again.sessionId, { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
    const { body: fresh } = await write(agent, again.sessionId);
    expect((await decide(agent, fresh.id, always)).status).toBe(200);
    const { body: kept } = await agent.get<Session>(`/v1/sessions/${again.sessionId}`);
    expect(kept.grants.trustedTools).toEqual(['file_write']);
  });
});

describe('an approval', () => {
  it('denies a call approved after the session became read_only', async () => {
    const { agent } = tenant;
    const { sessionId, waiting } = await asked(agent);
    await put(agent, sessionId, { posture: { autonomy: 'read_only' } });
    const { status, body: call } = await decide(agent, waiting.id, { decision: 'allow', scope: 'session-tool' });
    expect(status).toBe(200);
    expect(call).toMatchObject({ status: 'ended', outcome: 'denied', attempt: 0, error: { code: 'policy_denied' } });
    expect((await agent.get<Session>(`/v1/sessions/${sessionId}`)).body.grants.trustedTools).toEqual([]);
  });

  it('evaluates an approval again after the tool was denied to the session or removed from it', async () => {
    const { agent } = tenant;
    for (const change of [{ grants: { deniedTools: ['file_write'] } }, { tools: ['echo'] }]) {
      const { sessionId, waiting } = await asked(agent);
      await put(agent, sessionId, change);
      const { body: call } = await decide(agent, waiting.id, { decision: 'allow' });
      expect(call).toMatchObject({ outcome: 'denied', error: { code: 'policy_denied' } });
    }
  });

  it('denies an approved call after more paths were denied than it hides; denials that it hides do not', async () => {
    const { agent } = tenant;
    const sessionId = `trust-${++sessions}`;
    const deny = (...read: string[]) => put(agent, sessionId, { grants: { deniedPaths: { read, write: [] } } });
    const command = async () => (await agent.submit('shell', { command: 'cat .e*' }, { sessionId })).body;
    await put(agent, sessionId, { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
    await deny('keys', 'old');
    const [first, second] = [await command(), await command()];
    await deny('keys');
    expect((await decide(agent, first.id, { decision: 'allow' })).status).toBe(200);
    expect((await agent.ended(first.id)).outcome).not.toBe('denied');
    await deny('keys', '.env');
    expect((await decide(agent, second.id, { decision: 'allow' })).body).toMatchObject({
      outcome: 'denied',
      error: { code: 'policy_denied', message: expect.stringContaining('More paths are denied now') },
    });
  });

  it('shows no secret of the arguments in the reason of a denial', async () => {
    const { agent } = tenant;
    const token = `ghp_${'aB3dE6gH9kL2nP5r'.repeat(3).slice(0, 36)}`;
    const sessionId = `trust-${++sessions}`;
    await put(agent, sessionId, { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
    const { body: waiting } = await agent.submit('file_write', { path: `${token}.txt`, content: 'x' }, { sessionId });
    await put(agent, sessionId, { grants: { deniedPaths: { write: ['**'], read: [] } } });
    const { body: call } = await decide(agent, waiting.id, { decision: 'allow' });
    expect(call).toMatchObject({ outcome: 'denied' });
    expect(JSON.stringify(call)).not.toContain(token);
  });
});

describe('with four eyes', () => {
  const of = (key: string) => fourEyes.agentOf(key);

  it('prevents a key from loosening the rules of its own calls under four eyes, even with scope admin: posture, tools and grants', async () => {
    const submitter = of('submitter');
    for (const loosened of [
      { posture: { autonomy: 'full', permissionMode: 'allow' } },
      { grants: { trustedTools: ['file_write'] } },
      { allowedTools: ['file_write'] },
    ]) {
      const sessionId = `trust-${++sessions}`;
      expect((await put(submitter, sessionId, loosened)).status).toBe(200);
      const { body: own } = await write(submitter, sessionId);
      expect([loosened, own.status]).toEqual([loosened, 'waiting_approval']);
      const reasons = own.decision.reasons.filter(({ rule }) => rule === 'four_eyes');
      expect(reasons).toEqual([expect.objectContaining({ effect: 'ask', reason: expect.stringContaining('submitter') })]);
      expect(codeOf(await decide(submitter, own.id, { decision: 'allow' }))).toBe('forbidden');
      const edited = { decision: 'allow', arguments: { path: 'b.txt', content: 'x' } };
      expect(codeOf(await decide(submitter, own.id, edited))).toBe('forbidden');
      const { body: others } = await write(of('person'), sessionId);
      expect([loosened, others.status]).toEqual([loosened, 'queued']);
    }
  });

  it('prevents a submitting key from removing or changing the user of a session under four eyes; another key may', async () => {
    const sessionId = `trust-${++sessions}`;
    expect((await put(of('submitter'), sessionId, { userId: 'alice' })).status).toBe(200);
    for (const userId of [null, 'bob']) {
      const refused = await put(of('submitter'), sessionId, { userId });
      expect([codeOf(refused), JSON.stringify(refused.body)]).toEqual(['forbidden', expect.stringContaining('(userId)')]);
    }
    expect((await put(of('submitter'), sessionId, { userId: 'alice' })).status).toBe(200);
    const { status, body } = await put(of('keeper'), sessionId, { userId: null });
    expect([status, body.userId]).toEqual([200, undefined]);
  });

  it('refuses edited arguments on approval under four eyes, since only their author would have seen them: a replay asks another key', async () => {
    const { waiting } = await asked(of('submitter'));
    const edited = { path: 'b.txt', content: 'x' };
    const refused = await decide(of('person'), waiting.id, { decision: 'allow', scope: 'once', arguments: edited });
    expect([codeOf(refused), JSON.stringify(refused.body)]).toEqual(['forbidden', expect.stringContaining('Replay the call')]);
    const { status, body } = await of('person').request('POST', `/v1/calls/${waiting.id}/replay`, { arguments: edited });
    expect([status, body.status]).toEqual([202, 'waiting_approval']);
    for (const key of ['submitter', 'person']) expect(codeOf(await decide(of(key), body.id, { decision: 'allow' }))).toBe('forbidden');
    expect((await decide(of('keeper'), body.id, { decision: 'allow' })).status).toBe(200);
  });

  it('ignores for a key’s calls the grants of its own decisions; denials apply to all', async () => {
    const { sessionId, waiting } = await asked(of('submitter'));
    const person = of('person');
    expect((await decide(person, waiting.id, { decision: 'allow', scope: 'session-tool' })).status).toBe(200);
    expect((await write(person, sessionId)).body.status).toBe('waiting_approval');

    const { sessionId: denying } = await asked(person);
    await put(person, denying, { grants: { deniedTools: ['file_write'] } });
    expect(codeOf(await write(person, denying))).toBe('policy_denied');
  });

  it('prevents a submitting key from lifting restrictions under four eyes: posture, tools, denials, hooks, the session', async () => {
    const [submitter, person] = [of('submitter'), of('person')];
    const hooks = [{ name: 'look', on: 'before', url: 'https://hooks.invalid/look' }];
    for (const [restricted, lifted] of [
      [{ posture: { autonomy: 'read_only' } }, { posture: { autonomy: 'supervised' } }],
      [{ posture: { permissionMode: 'read-only' } }, { posture: { permissionMode: 'prompt' } }],
      [{ tools: ['echo'] }, { tools: null }],
      [{ tools: ['echo'] }, { tools: ['echo', 'file_write'] }],
      [{ grants: { deniedTools: ['file_write'] } }, { grants: {} }],
      [{ grants: { deniedPaths: { read: ['a'], write: [] } } }, { grants: {} }],
      [{ hooks }, { hooks: null }],
    ]) {
      const sessionId = `trust-${++sessions}`;
      expect((await put(person, sessionId, restricted ?? {})).status).toBe(200);
      const refused = [await put(submitter, sessionId, lifted ?? {}), await submitter.request('DELETE', `/v1/sessions/${sessionId}`)];
      expect([lifted, ...refused.map(codeOf)]).toEqual([lifted, 'forbidden', 'forbidden']);
      expect((await put(submitter, sessionId, { ...restricted, allowedTools: [] })).status).toBe(200);
      expect((await put(of('keeper'), sessionId, lifted ?? {})).status).toBe(200);
      expect((await of('keeper').request('DELETE', `/v1/sessions/${sessionId}`)).status).toBe(204);
    }
  });

  it('forgets the changes of a key when the session is deleted and set by another key', async () => {
    const sessionId = `trust-${++sessions}`;
    await put(of('submitter'), sessionId, { posture: { autonomy: 'full', permissionMode: 'allow' } });
    await of('person').request('DELETE', `/v1/sessions/${sessionId}`);
    await put(of('person'), sessionId, { posture: { autonomy: 'full', permissionMode: 'allow' } });
    expect((await write(of('submitter'), sessionId)).body.status).toBe('queued');
    expect((await write(of('person'), sessionId)).body.status).toBe('waiting_approval');
  });
});
