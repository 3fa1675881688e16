import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { HookInput } from '#contracts';
import type { Agent } from '../../support/agent.js';
import { eventually } from '../../support/eventually.js';
import { type HookTenant, problemOf, textOf, type HookTestAgents } from '../../support/hook-tenant.js';

const GITHUB = `ghp_${'aB3dE6gH9kL2nP5r'.repeat(3).slice(0, 36)}`;
const ON_BEFORE = { name: 'guard', on: 'before' } as const;

export const secretAgents = (files: HookTenant): HookTestAgents => {
  const url = (path: string) => `${files.webhooks.url}${path}`;
  const everywhere = (path: string, more: { readonly secrets?: boolean } = {}): HookTestAgents[string]['hooks'] => [
    { ...ON_BEFORE, url: url(path), ...more },
    { name: 'mirror', on: 'after_update', url: url(path), ...more },
    { name: 'review', on: 'after', url: url(path), ...more },
    { name: 'after-end', on: 'after_end', url: url(path), ...more },
  ];
  return {
    blind: { hooks: everywhere('/blind') },
    trusted: { hooks: everywhere('/trusted', { secrets: true }) },
    variables: { hooks: [{ ...ON_BEFORE, command: `printf %s "$HOOK_TOOL_INPUT" > ${files.at('variable')}` }] },
    session: { hooks: [] },
    'secret-rewriting': { hooks: [{ ...ON_BEFORE, url: url('/secret-rewriting') }] },
    'secret-rewriting-trusted': { hooks: [{ ...ON_BEFORE, url: url('/secret-rewriting'), secrets: true }] },
    chain: {
      hooks: [
        { ...ON_BEFORE, url: url('/secret-rewriting') },
        { ...ON_BEFORE, name: 'second', url: url('/secret-second') },
      ],
    },
    'secret-people-first': {
      policy: { hookOrder: 'permission_approval_hooks' },
      hooks: [{ ...ON_BEFORE, url: url('/secret-people-first') }],
    },
    'secret-people-first-trusted': {
      policy: { hookOrder: 'permission_approval_hooks' },
      hooks: [{ ...ON_BEFORE, url: url('/secret-people-first'), secrets: true }],
    },
    'secret-keeping': { hooks: [{ ...ON_BEFORE, url: url('/secret-keeping'), cacheMs: 60_000 }] },
    'secret-keeping-trusted': { hooks: [{ ...ON_BEFORE, url: url('/secret-keeping'), cacheMs: 60_000, secrets: true }] },
  };
};

/** Contract: secrets visible to a hook, and the meaning of its placeholders. */
export function hookSecretsContract(started: () => HookTenant): void {
  let hooked: HookTenant;
  let agent: Agent;
  beforeAll(() => {
    hooked = started();
    ({ agent } = hooked);
  });

  const said = (path: string) => hooked.webhooks.to(path).map(({ text }) => text);
  const inputs = (path: string): HookInput[] => hooked.webhooks.to(path).map(({ input }) => input);
  const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

  describe('a hook', () => {
    it('passes placeholders for secrets in arguments to hooks, at every event, and the secrets to the tool', async () => {
      const command = `echo begun; printf %s '${GITHUB}' | sha256sum`;
      const more = { purpose: `use ${GITHUB}`, toolCallId: `call ${GITHUB}` };
      const call = await hooked.runAs('blind', 'shell', { command, __tool_use_purpose: more.purpose }, { toolCallId: more.toolCallId });
      expect(call).toMatchObject({ outcome: 'completed', argumentsRedacted: true });
      expect(textOf(call)).toContain(digestOf(GITHUB));
      await eventually(() => inputs('/blind').some(({ event }) => event === 'after_end'), 'the hook after the End');
      expect(new Set(inputs('/blind').map(({ event }) => event))).toEqual(new Set(['before', 'after_update', 'after', 'after_end']));
      expect(inputs('/blind').map(({ tool_input }) => tool_input)).toEqual(
        inputs('/blind').map(() => expect.objectContaining({ command: "echo begun; printf %s '[REDACTED]' | sha256sum" })),
      );
      expect(said('/blind').filter((text) => text.includes(GITHUB))).toEqual([]);
      await hooked.runAs('variables', 'echo', { password: 'hunter2x', [GITHUB]: 1 });
      expect(JSON.parse(readFileSync(hooked.at('variable'), 'utf8'))).toEqual({ password: '[REDACTED]', '[REDACTED]': 1 });
    });

    it('passes submitted arguments to a hook if the config file allows it, with outputs still redacted', async () => {
      const args = { password: 'hunter2x', text: GITHUB };
      const call = await hooked.runAs('trusted', 'echo', args);
      expect(call).toMatchObject({ outcome: 'completed', arguments: { password: '[REDACTED]', text: '[REDACTED]' } });
      await eventually(() => inputs('/trusted').some(({ event }) => event === 'after_end'), 'the hook after the End');
      for (const { tool_input, tool_response } of inputs('/trusted')) {
        expect(tool_input).toEqual(args);
        expect(JSON.stringify(tool_response ?? {})).not.toContain(GITHUB);
      }
    });

    it('passes placeholders to a hook of a session, and refuses it more', async () => {
      const sessionId = hooked.newSession('own');
      const hook = { ...ON_BEFORE, url: `${hooked.webhooks.url}/of-session` };
      const asking = await agent.request('PUT', `/v1/sessions/${sessionId}`, { hooks: [{ ...hook, secrets: true }] });
      expect([asking.status, JSON.stringify(asking.body)]).toEqual([422, expect.stringContaining('secrets')]);
      expect((await agent.request('PUT', `/v1/sessions/${sessionId}`, { hooks: [hook] })).status).toBe(200);
      await hooked.runAs('session', 'echo', { password: 'hunter2x' }, { sessionId });
      expect(inputs('/of-session').map(({ tool_input }) => tool_input)).toEqual([{ password: '[REDACTED]' }]);
    });

    it('passes placeholders to a hook after a person, or the secrets if the config file allows it', async () => {
      const sessionId = hooked.newSession('people');
      await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' } });
      for (const agentId of ['secret-people-first', 'secret-people-first-trusted']) {
        const args = { path: 'a.txt', content: `password=${GITHUB}` };
        const { body: waiting } = await hooked.submitAs(agentId, 'file_write', args, { sessionId });
        await agent.request('POST', `/v1/calls/${waiting.id}/decision`, { decision: 'allow' });
        expect((await agent.ended(waiting.id)).outcome).toBe('completed');
      }
      expect(inputs('/secret-people-first').map(({ tool_input }) => tool_input)).toEqual([
        { path: 'a.txt', content: 'password=[REDACTED]' },
        { path: 'a.txt', content: `password=${GITHUB}` },
      ]);
    });
  });

  describe('a placeholder in what a hook answers', () => {
    const args = { text: `token ${GITHUB}`, list: [GITHUB, 'b'], pair: [GITHUB, GITHUB.replace('ghp_a', 'ghp_z')], [GITHUB]: 1 };
    const shown = { text: 'token [REDACTED]', list: ['[REDACTED]', 'b'], pair: ['[REDACTED]', '[REDACTED]'], '[REDACTED]': 1 };

    it('restores a placeholder of a hook that is unchanged at its path: the tool and the next hook get the original value', async () => {
      hooked.webhooks.on('/secret-rewriting', { arguments: { ...shown, list: ['[REDACTED]', 'c'], added: true } });
      const command = `printf %s '${GITHUB}' | sha256sum`;
      hooked.webhooks.on('/secret-second', {});
      const call = await hooked.runAs('chain', 'echo', args);
      expect(call).toMatchObject({ outcome: 'completed', arguments: { ...shown, list: ['[REDACTED]', 'c'], added: true } });
      expect(inputs('/secret-second').at(-1)?.tool_input).toEqual({ ...shown, list: ['[REDACTED]', 'c'], added: true });
      hooked.webhooks.on('/secret-rewriting', { arguments: { command: command.replace(GITHUB, '[REDACTED]'), timeout_ms: 9_000 } });
      const hashed = await hooked.runAs('secret-rewriting', 'shell', { command });
      expect(textOf(hashed)).toContain(digestOf(GITHUB));
      expect(hashed.arguments).toMatchObject({ timeout_ms: 9_000 });
    });

    it.each([
      ['at another path', { ...shown, other: '[REDACTED]' }, '/other'],
      ['in another text', { ...shown, text: 'use the token [REDACTED]' }, '/text'],
      ['at another place of a list', { ...shown, list: ['b', '[REDACTED]'] }, '/list/1'],
      ['of a list that is shorter now', { ...shown, pair: ['[REDACTED]'] }, '/pair/0'],
      ['as another key', { ...shown, deeper: { '[REDACTED]': 1 } }, '/deeper/[REDACTED]'],
    ])('refuses the call for a placeholder of a hook %s, with the place', async (_where, answer, pointer) => {
      hooked.webhooks.on('/secret-rewriting', { arguments: answer });
      const problem = problemOf(await hooked.submitAs('secret-rewriting', 'echo', args));
      expect([problem.status, problem.code]).toEqual([403, 'hook_rejected']);
      expect(problem.detail).toContain(`Hook \`guard\` answered with a placeholder ([REDACTED]) at ${pointer}, where it names no secret`);
    });

    it('treats a placeholder as plain text in the answer of a hook that sees the secrets', async () => {
      hooked.webhooks.on('/secret-rewriting', { arguments: { other: 'see [REDACTED]' } });
      expect((await hooked.runAs('secret-rewriting-trusted', 'echo', args)).result?.content).toEqual([
        { type: 'json', json: { other: 'see [REDACTED]' } },
      ]);
    });
  });

  describe('a cached answer of a hook', () => {
    it('caches the answer of a hook to a question with hidden secrets, but not to one with a visible secret', async () => {
      const asked = async (agentId: string) => {
        const sessionId = hooked.newSession('secret-keeping');
        const before = said('/secret-keeping').length;
        hooked.webhooks.on('/secret-keeping', {});
        for (const password of ['hunter2x', 'hunter3x']) {
          const command = `printf %s '--password=${password}' | sha256sum`;
          if (agentId === 'secret-keeping')
            hooked.webhooks.on('/secret-keeping', { arguments: { command: command.replace(password, '[REDACTED]') } });
          const call = await hooked.runAs(agentId, 'shell', { command }, { sessionId });
          expect(textOf(call)).toContain(digestOf(`--password=${password}`));
        }
        return said('/secret-keeping').length - before;
      };
      expect(await asked('secret-keeping')).toBe(1);
      expect(await asked('secret-keeping-trusted')).toBe(2);
    });
  });
}
