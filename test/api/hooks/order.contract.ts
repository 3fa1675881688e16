import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Agent } from '../../support/agent.js';
import { eventually } from '../../support/eventually.js';
import { type HookTenant, problemOf, type HookTestAgents } from '../../support/hook-tenant.js';

const ON_BEFORE = { name: 'guard', on: 'before' } as const;
const GITHUB = 'ghp_0a1b2c3d4e5f6g7h8i9j0a1b2c3d4e5f6g7h';

export const orderAgents = ({ webhooks }: HookTenant): HookTestAgents => {
  const url = (path: string) => `${webhooks.url}${path}`;
  return {
    'people-first': { policy: { hookOrder: 'permission_approval_hooks' }, hooks: [{ ...ON_BEFORE, url: url('/people-first') }] },
    'people-last': { hooks: [{ ...ON_BEFORE, url: url('/people-last') }] },
    'hooks-first': {
      policy: { hookOrder: 'hooks_permission_approval', commands: { deniedCommands: ['rm .*'] } },
      hooks: [{ ...ON_BEFORE, url: url('/hooks-first') }],
    },
  };
};

/** Contract: order of hooks, before or after permission and approval. */
export function hookOrderContract(started: () => HookTenant): void {
  let hooked: HookTenant;
  let agent: Agent;
  beforeAll(() => {
    hooked = started();
    ({ agent } = hooked);
  });

  describe('arguments that no tool accepts', () => {
    it('refuses unacceptable arguments before any hook or person is asked', async () => {
      const sessionId = hooked.newSession('wrong');
      await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
      const wrong = [
        ['file_search', { path: '/etc', query: '(unclosed' }, 'The regular expression is not valid: missing closing ): `(unclosed`'],
        ['file_search', { path: '/etc', query: '(?<=a)b' }, 'look-around and back-references are not available'],
        ['glob', { path: '/etc', pattern: '!src/**' }, 'begins with "!"'],
        ['file_read', { path: 'a.txt', offset: 0 }, '/arguments/offset'],
      ] as const;
      for (const [tool, args, why] of wrong) {
        const answer = await hooked.submitAs('people-first', tool, args, { sessionId });
        const { status, code } = problemOf(answer);
        expect([status, code, JSON.stringify(answer.body).includes(JSON.stringify(why).slice(1, -1))]).toEqual([
          422,
          'invalid_arguments',
          true,
        ]);
      }
      for (const query of ['(literal', '[[:alpha:]]', '\\u{41}']) {
        const { body } = await hooked.submitAs(
          'people-first',
          'file_search',
          { path: '/etc', query, literal: query === '(literal' },
          { sessionId },
        );
        expect(body.status).toBe('waiting_approval');
      }
    });
  });

  describe('a hook before a call', () => {
    it('runs a hook before permission in that order: it may refuse first, or rewrite what policy would deny [K-15]', async () => {
      const denied = () => hooked.submitAs('hooks-first', 'shell', { command: 'rm a' });
      hooked.webhooks.on('/hooks-first', { decision: 'deny', reason: 'never' });
      expect(problemOf(await denied()).code).toBe('hook_rejected');
      hooked.webhooks.on('/hooks-first', {});
      expect(problemOf(await denied()).code).toBe('policy_denied');
      hooked.webhooks.on('/hooks-first', { arguments: { command: 'echo kept' } });
      expect(await hooked.runAs('hooks-first', 'shell', { command: 'rm a' })).toMatchObject({
        outcome: 'completed',
        arguments: { command: 'echo kept' },
      });
      expect(hooked.webhooks.to('/hooks-first')).toHaveLength(3);
    });

    it('denies a call whose rewritten arguments are denied, for any hook and order', async () => {
      const args = { taskDescription: 'a', taskResult: 'b' };
      hooked.webhooks.on('/hooks-first', {});
      const denied = problemOf(await hooked.submitAs('hooks-first', 'summary', args));
      expect(denied).toMatchObject({ code: 'policy_denied', detail: expect.stringContaining('sub-agents only') });
      hooked.webhooks.on('/hooks-first', { arguments: { ...args, taskResult: 'c' } });
      const rewritten = problemOf(await hooked.submitAs('hooks-first', 'summary', args));
      expect(rewritten).toMatchObject({ code: 'policy_denied', detail: expect.stringContaining('sub-agents only') });
    });

    it('runs a hook after the person in that order: it lets the approved call run or ends it [K-15]', async () => {
      const sessionId = hooked.newSession('people');
      await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' } });
      const asked = () => hooked.webhooks.to('/people-first');
      const decide = async (answer: object, decision = 'allow') => {
        hooked.webhooks.on('/people-first', answer);
        const args = { path: 'a.txt', content: `password=${GITHUB}` };
        const { body: waiting } = await hooked.submitAs('people-first', 'file_write', args, { sessionId });
        expect(waiting.status).toBe('waiting_approval');
        const before = asked().length;
        expect((await agent.request('POST', `/v1/calls/${waiting.id}/decision`, { decision })).status).toBe(200);
        return {
          call: await agent.ended(waiting.id),
          inputs: asked()
            .slice(before)
            .map(({ input }) => input.tool_input),
        };
      };
      const shown = { path: 'a.txt', content: 'password=[REDACTED]' };
      expect(await decide({})).toMatchObject({ call: { outcome: 'completed' }, inputs: [shown] });
      expect(await decide({}, 'deny')).toMatchObject({ call: { error: { code: 'approval_denied' } }, inputs: [] });
      const refused = await decide({ decision: 'deny', reason: 'not on a Friday' });
      expect(refused).toMatchObject({
        call: { outcome: 'denied', attempt: 0, error: { code: 'hook_rejected', message: 'Rejected by hook `guard`: not on a Friday' } },
        inputs: [shown],
      });
      expect((await agent.events(refused.call.id)).map(({ type }) => type)).toEqual([
        'call.submitted',
        'call.approval_requested',
        'call.hook',
        'call.hook',
        'call.end',
      ]);
      const rewritten = await decide({ arguments: { path: 'b.txt', content: 'x' } });
      expect(rewritten.call.error?.message).toContain('rewrote the arguments after a person had approved them');
      // Runs the hook at the submission, since there is no approval.
      hooked.webhooks.on('/people-first', { arguments: { n: 2 } });
      expect(await hooked.runAs('people-first')).toMatchObject({ outcome: 'completed', arguments: { n: 2 } });
    });

    it('shows a hook the arguments edited by the approver, in any order, and ends no call by its refusal', async () => {
      for (const name of ['people-first', 'people-last'] as const) {
        const sessionId = hooked.newSession('edited');
        await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' } });
        hooked.webhooks.on(`/${name}`, {});
        const { body: waiting } = await hooked.submitAs(name, 'file_write', { path: 'a', content: 'b' }, { sessionId });
        const edit = (path: string) =>
          agent.request<object>('POST', `/v1/calls/${waiting.id}/decision`, { decision: 'allow', arguments: { path, content: 'c' } });
        hooked.webhooks.on(`/${name}`, { decision: 'deny', reason: 'not there' });
        const refused = await edit('denied');
        expect([problemOf(refused).code, hooked.webhooks.to(`/${name}`).at(-1)?.input.tool_input]).toMatchObject([
          'hook_rejected',
          { path: 'denied' },
        ]);
        hooked.webhooks.on(`/${name}`, { arguments: { path: 'rewritten', content: 'c' } });
        expect(problemOf(await edit('again')).detail).toContain('rewrote the arguments');
        hooked.webhooks.on(`/${name}`, {});
        expect((await edit('fine')).status).toBe(200);
        expect(await agent.ended(waiting.id)).toMatchObject({ outcome: 'completed', arguments: { path: 'fine' } });
      }
    });

    it('stops a hook after the person when the call is cancelled', async () => {
      const sessionId = hooked.newSession('people');
      await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' } });
      let gone = false;
      hooked.webhooks.on('/people-first', (_request, response) => void response.once('close', () => (gone = true)));
      const { body: waiting } = await hooked.submitAs('people-first', 'file_write', { path: 'a', content: 'b' }, { sessionId });
      const asked = hooked.webhooks.to('/people-first').length;
      const decided = agent.request('POST', `/v1/calls/${waiting.id}/decision`, { decision: 'allow' });
      await eventually(() => hooked.webhooks.to('/people-first').length > asked, 'the hook to be asked');
      await agent.request('POST', `/v1/calls/${waiting.id}/cancel`, {});
      expect((await decided).status).toBe(409);
      await eventually(() => gone, 'the request of the hook to be given up');
      expect(await agent.ended(waiting.id)).toMatchObject({ outcome: 'cancelled', attempt: 0 });
    });
  });
}
