import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Problem, Session } from '#contracts';
import type { Agent } from '../support/agent.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

describe('patterns that a tenant sets', () => {
  const tenants: Tenant[] = [];
  let attacker: Agent;
  let neighbour: Agent;

  beforeAll(async () => {
    for (const name of ['patterns', 'patterns-neighbour']) tenants.push(await useTenant(name));
    [attacker, neighbour] = tenants.map(({ agent }) => agent) as [Agent, Agent];
  });
  afterAll(async () => {
    for (const tenant of tenants) await tenant.close();
  });

  const put = (session: string, body: object) => attacker.request<Session>('PUT', `/v1/sessions/${session}`, body);
  const refused = async (session: string, body: object): Promise<Problem> => {
    const { status, body: problem } = await attacker.request<Problem>('PUT', `/v1/sessions/${session}`, body);
    expect([status, problem.code]).toEqual([422, 'invalid_request']);
    return problem;
  };
  const undisturbed = async () => expect(await neighbour.run('echo', { text: 'undisturbed' })).toMatchObject({ outcome: 'completed' });

  it('protects a tenant from another one’s backtracking globs and paths', async () => {
    expect((await put('stars', { grants: { deniedPaths: { read: ['*a*a*a*a*a*a*b'] } } })).status).toBe(200);
    const attack = attacker.run('file_read', { path: 'a'.repeat(90) }, { sessionId: 'stars' });
    await undisturbed();
    expect(await attack).toMatchObject({ status: 'ended', decision: { effect: 'allow' } });
    const denied = await attacker.run('file_read', { path: `${'a'.repeat(90)}b` }, { sessionId: 'stars' });
    expect(denied.error?.message).toContain('was denied for this session by *a*a*a*a*a*a*b');
  });

  it('refuses costly patterns when they are set, with the field and the expected form', async () => {
    const large = Array.from({ length: 500 }, (_, index) => `(?:a{90}b{90}c{90}d{90}e{90}){2}${index}`);
    const commands = (...allowedCommands: string[]) => ({ grants: { allowedCommands } });
    const sent = [
      refused('many', commands(...large)),
      refused('long', commands('a*'.repeat(3_000))),
      refused('longest', commands('a*'.repeat(225_000))),
      refused('counts', commands('(a{1000}){1000}')),
    ];
    await undisturbed();
    const [many, long, longest, counts] = await Promise.all(sent);
    expect(many?.errors).toEqual([
      { pointer: '/grants/allowedCommands/11', message: 'expected expressions of at most 10000 instructions in the whole list' },
    ]);
    expect(long?.errors).toEqual([{ pointer: '/grants/allowedCommands/0', message: 'expected at most 4096 characters; received 6000' }]);
    expect(longest?.errors).toEqual([
      { pointer: '/grants/allowedCommands/0', message: 'expected at most 65536 characters in the whole list' },
    ]);
    expect(counts?.errors).toEqual([{ pointer: '/grants/allowedCommands/0', message: 'expected smaller counts of repetition' }]);
  });

  it('compiles patterns once: calls under the longest list that may be set are answered beside others', async () => {
    const allowedCommands = Array.from({ length: 500 }, (_, index) => `git (a|b)${index}( .*)?`);
    const posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };
    expect((await put('longest', { posture, grants: { allowedCommands } })).status).toBe(200);
    const run = (command: string) => attacker.submit('shell', { command }, { sessionId: 'longest' });
    const attack = Array.from({ length: 40 }, () => run(`echo ${'x'.repeat(400)}`));
    await undisturbed();
    for (const { body } of await Promise.all(attack)) expect(body.status).toBe('waiting_approval');
    const { body } = await run('git a499 x');
    expect(body.decision.reasons).toContainEqual(expect.objectContaining({ reason: 'allowed commands: git (a|b)499( .*)?' }));
  });

  it.each([
    ['tools', { tools: ['@builtin/!(a)'] }, '/tools/0'],
    ['a negation of tools', { tools: ['*', '!shell'] }, '/tools/1'],
    ['allowedTools', { allowedTools: ['file_[!r]*'] }, '/allowedTools/0'],
    ['hooks', { hooks: [{ name: 'h', on: 'before', url: 'https://example.com', match: ['{1..9}'] }] }, '/hooks/0/match/0'],
    ['grants', { grants: { allowedPaths: { write: ['fine', 'a(b|c)'] } } }, '/grants/allowedPaths/write/1'],
  ])('names the field of a refused pattern: %s', async (_name, body, pointer) => {
    const { errors } = await refused('fields', body);
    expect(errors).toEqual([{ pointer, message: expect.stringMatching(/^expected .* in place of/) }]);
  });
});
