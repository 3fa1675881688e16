import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { CallEvent, type Session } from '#contracts';
import type { Agent } from '../../support/agent.js';
import { eventually } from '../../support/eventually.js';
import { type HookTenant, isAlive, problemOf, textOf, type HookTestAgents } from '../../support/hook-tenant.js';

const ON_BEFORE = { name: 'guard', on: 'before' } as const;
/** Number of workers in the shared installation. */
const WORKERS = 2;
const ON_AFTER = { name: 'review', on: 'after' } as const;

export const afterAgents = (files: HookTenant): HookTestAgents => {
  const url = (path: string) => `${files.webhooks.url}${path}`;
  const at = (name: string) => files.at(name);
  const sleeper = (name: string) => files.sleeper(name);
  return {
    noting: {
      hooks: [
        { ...ON_AFTER, command: 'printf note' },
        { ...ON_AFTER, name: 'again', command: 'printf more' },
      ],
    },
    'telling-after': { hooks: [{ ...ON_AFTER, command: `env > ${at('after-env')}; cat > ${at('after-stdin.json')}` }] },
    denying: { hooks: [{ ...ON_AFTER, command: 'echo bad style >&2; exit 2' }] },
    linting: { hooks: [{ ...ON_AFTER, match: ['file_write'], directory: 'workspace', command: 'wc -c < linted.txt' }] },
    'after-failing': { hooks: [{ ...ON_AFTER, command: 'exit 3' }] },
    'after-long': { hooks: [{ ...ON_AFTER, command: 'head -c 20000 /dev/zero | tr "\\0" y', maxOutputBytes: 50 }] },
    caching: { hooks: [{ ...ON_AFTER, command: `echo ran >> ${at('cache-runs')}; printf seen`, cacheMs: 60_000 }] },
    cancelled: { hooks: [{ ...ON_AFTER, command: sleeper('cancel-pids'), timeoutMs: 60_000 }] },
    updates: {
      hooks: [
        { name: 'filter', on: 'before_update', url: url('/before-update') },
        { name: 'mirror', on: 'after_update', url: url('/after-update') },
      ],
    },
    repeating: {
      hooks: [
        { ...ON_BEFORE, command: "grep -o 'ghp_[A-Za-z0-9]*'", secrets: true },
        { ...ON_AFTER, command: "grep -o 'ghp_[A-Za-z0-9]*' | head -1", secrets: true },
      ],
    },
    ending: { hooks: [{ name: 'after-end', on: 'after_end', url: url('/after-end') }] },
    kept: { hooks: [{ ...ON_AFTER, command: 'printf first edition' }] },
  };
};

/** Hooks after a call and around its updates, hooks of a session, and changes of the configuration. */
export function hooksAfterContract(started: () => HookTenant): void {
  let hooked: HookTenant;
  let agent: Agent;
  beforeAll(() => {
    hooked = started();
    ({ agent } = hooked);
  });

  describe('a hook after a call', () => {
    it('publishes no secret of the arguments by a hook after a call, nor by one before it', async () => {
      const token = `ghp_${'aB3dE6gH9kL2nP5r'.repeat(3).slice(0, 36)}`;
      const call = await hooked.runAs('repeating', 'echo', { say: `use ${token}` });
      expect(textOf(call)).toMatch(/Hook feedback:/);
      const { body: events } = await agent.get(`/v1/calls/${call.id}/events`);
      expect([JSON.stringify(call), JSON.stringify(events)].filter((text) => text.includes(token))).toEqual([]);
    });

    it('appends the feedback of a hook after a call below the output, and adds it to the details for people [HK-18, RP-24]', async () => {
      const call = await hooked.runAs('noting');
      expect(textOf(call)).toMatch(/Hook feedback:\nnote\nmore$/);
      expect(call).toMatchObject({ outcome: 'completed', result: { isError: false } });
      expect(call.result?.details?.['hooks']).toEqual([
        { name: 'review', event: 'after', verdict: 'allow', tookMs: expect.any(Number) },
        { name: 'again', event: 'after', verdict: 'allow', tookMs: expect.any(Number) },
      ]);
    });

    it('makes the result an error when a hook after a call exits with 2 [HK-18]', async () => {
      const call = await hooked.runAs('denying');
      expect(call).toMatchObject({ outcome: 'completed', result: { isError: true } });
      expect(textOf(call)).toMatch(/Hook feedback \(denied\):\nbad style$/);
      expect(call.result?.details?.['hooks']).toMatchObject([{ name: 'review', verdict: 'deny', reason: 'bad style' }]);
    });

    it('shows a hook after a call the files of the session, after each call of the tools that it matches [HK-10]', async () => {
      const sessionId = hooked.newSession('lint');
      const call = await hooked.runAs('linting', 'file_write', { path: 'linted.txt', content: '12345' }, { sessionId });
      expect(textOf(call)).toMatch(/Hook feedback:\n\s*5$/);
      expect(textOf(await hooked.runAs('linting', 'echo', {}, { sessionId }))).not.toContain('Hook feedback');
    });

    it('keeps the result when a hook after a call fails, with a warning [HK-15]', async () => {
      const call = await hooked.runAs('after-failing');
      expect(call.result?.isError).toBe(false);
      expect(textOf(call)).toMatch(/Hook feedback:\nHook `review` exited with status 3; the result stands$/);
    });

    it('reads at most maxOutputBytes of a hook after a call', async () => {
      expect(textOf(await hooked.runAs('after-long'))).toMatch(/Hook feedback:\ny{49,50}$/);
    });

    it('runs a hook after a call for a failed tool, too', async () => {
      const call = await hooked.runAs('noting', 'file_read', { path: 'not-there.txt' });
      expect(call.result?.isError).toBe(true);
      expect(textOf(call)).toMatch(/Hook feedback:\nnote\nmore$/);
    });

    it('passes the tool’s answer and its error flag to a hook after a call as variables and as JSON [HK-17]', async () => {
      const variables = () => hooked.linesOf('after-env').filter((line) => /^HOOK_(EVENT|TOOL_(OUTPUT|IS_ERROR))=/.test(line));
      const answer = () => JSON.parse(readFileSync(hooked.at('after-stdin.json'), 'utf8')).tool_response;
      await hooked.runAs('telling-after', 'shell', { command: 'echo said' });
      expect(variables().sort()).toEqual(['HOOK_EVENT=PostToolUse', 'HOOK_TOOL_IS_ERROR=0', 'HOOK_TOOL_OUTPUT=said']);
      expect(answer()).toMatchObject({ text: 'said\n', is_error: false });
      await hooked.runAs('telling-after', 'file_read', { path: 'not-there.txt' });
      const failed = ['HOOK_EVENT=PostToolUse', 'HOOK_TOOL_IS_ERROR=1', expect.stringMatching(/^HOOK_TOOL_OUTPUT=.*not-there\.txt/)];
      expect(variables().sort()).toEqual(failed);
      expect(answer()).toMatchObject({ is_error: true });
    });

    it('runs a hook after a call once for the same question in its session, on whichever worker [DX-05, HK-16]', async () => {
      const sessionId = hooked.newSession('cache');
      const run = () => hooked.runAs('caching', 'echo', { n: 7 }, { sessionId });
      const calls = [await run()];
      const ranBy = new Set<unknown>();
      while (ranBy.size < WORKERS && calls.length < 200) {
        calls.push(...(await Promise.all(Array.from({ length: 10 }, run))));
        for (const { id } of calls.slice(-10)) {
          const start = (await agent.events(id)).find(({ type }) => type === 'call.start');
          ranBy.add(start?.type === 'call.start' && start.data.worker);
        }
      }
      expect([...ranBy]).toHaveLength(WORKERS);
      expect(hooked.linesOf('cache-runs')).toHaveLength(1);
      expect(calls.filter((call) => !textOf(call).endsWith('Hook feedback:\nseen'))).toEqual([]);
      expect(calls.at(-1)?.result?.details?.['hooks']).toMatchObject([{ name: 'review', cached: true }]);
      await hooked.runAs('caching', 'echo', { n: 7 }, { sessionId: hooked.newSession('cache') });
      expect(hooked.linesOf('cache-runs')).toHaveLength(2);
    });

    it('passes each End of a worker to a hook once it can be read, and none of a call that never ran [HK-03]', async () => {
      const sessionId = hooked.newSession('ending');
      const seen: unknown[] = [];
      hooked.webhooks.on('/after-end', async ({ input }, response) => {
        const { body } = await agent.get(`/v1/calls/${input.call_id}`);
        seen.push([input.hook_event_name, input.outcome, input.tool_response?.is_error, body.status, body.outcome]);
        response.writeHead(204).end();
      });
      // Waits for the hook's notice of each End before the next call, since two workers send their Ends independently.
      const run = async (tool: string, args: object) => {
        const before = seen.length;
        await hooked.runAs('ending', tool, args, { sessionId });
        if (tool !== 'not_a_tool') await eventually(() => seen.length > before, `the hook to hear of the End of ${tool}`);
      };
      await run('echo', { n: 1 });
      await run('file_read', { path: 'not-there.txt' });
      await run('not_a_tool', {});
      const { body: slow } = await hooked.submitAs('ending', 'shell', { command: 'sleep 20' }, { sessionId });
      await eventually(async () => (await agent.get(`/v1/calls/${slow.id}`)).body.status === 'running', 'the call to run');
      await agent.request('POST', `/v1/calls/${slow.id}/cancel`, {});
      await eventually(() => seen.length >= 3, 'the hook to get three Ends');
      expect(seen).toEqual([
        ['ToolEnd', 'completed', false, 'ended', 'completed'],
        ['ToolEnd', 'failed', true, 'ended', 'failed'],
        ['ToolEnd', 'cancelled', true, 'ended', 'cancelled'],
      ]);
    });

    it('kills a hook after a call with all that it started when the call is cancelled; the tool has finished first [HK-20]', async () => {
      const { body: call } = await hooked.submitAs('cancelled');
      const pids = await hooked.pidsIn('cancel-pids');
      await agent.request('POST', `/v1/calls/${call.id}/cancel`, { graceMs: 2000 });
      const ended = await agent.ended(call.id);
      expect(ended).toMatchObject({ outcome: 'completed', result: { isError: false } });
      expect((await agent.events(call.id)).at(-1)?.data).toMatchObject({ stopped: { how: 'finished_first' } });
      expect(pids.filter(isAlive)).toEqual([]);
    });
  });

  describe('hooks around updates', () => {
    it('suppresses updates for watchers by hooks before publication; the tool and its result stay whole [HK-04, HK-05, HK-08]', async () => {
      const sessionId = hooked.newSession('updates');
      const step = (n: number) => `/${n}`;
      hooked.webhooks.on('/before-update', ({ input }, response) => {
        const body = JSON.stringify({ decision: input.update?.text.includes('two') === true ? 'deny' : 'allow' });
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
        const seen = hooked.webhooks.to('/before-update').length;
        const workspace = input.cwd;
        writeFileSync(join(workspace, `seen${step(seen).slice(1)}`), '');
      });
      const command = 'echo one; until [ -e seen1 ]; do sleep 0.05; done; echo two; until [ -e seen2 ]; do sleep 0.05; done; echo three';
      const call = await hooked.runAs('updates', 'shell', { command }, { sessionId });
      expect(textOf(call)).toMatch(/one\ntwo\nthree/);
      const events = await agent.events(call.id);
      const updates = events.flatMap((event) => (event.type === 'call.update' ? [event.data] : []));
      expect(updates.map(({ update, content }) => [update, content])).toEqual([
        [1, [{ type: 'text', text: 'one\n' }]],
        [2, [{ type: 'text', text: 'three\n' }]],
      ]);
      expect(hooked.webhooks.to('/after-update').map(({ input }) => input.update?.text)).toEqual(['one\n', 'three\n']);
      const sha256 = createHash('sha256')
        .update(updates.map(({ content }) => `${JSON.stringify(content)}\n`).join(''))
        .digest('hex');
      expect(CallEvent.parse(events.at(-1)).data).toMatchObject({ updates: { count: 2, sha256 } });
      expect(call.result?.details?.['hooks']).toEqual(
        expect.arrayContaining([expect.objectContaining({ name: 'filter', verdict: 'deny' })]),
      );
    });
  });

  describe('hooks of a session', () => {
    const put = (id: string, hooks: object[] | null) => agent.request<Session>('PUT', `/v1/sessions/${id}`, { hooks });

    it('accepts hooks of a session at public addresses only, and rejects commands and private addresses with the reason', async () => {
      const id = hooked.newSession('own');
      const command = await put(id, [{ ...ON_BEFORE, command: 'exit 2' }]);
      expect([command.status, problemOf(command).errors?.[0]?.pointer]).toEqual([422, '/hooks/0/command']);
      const metadata = await put(id, [{ ...ON_BEFORE, url: 'http://169.254.169.254/latest' }]);
      expect([metadata.status, problemOf(metadata).errors?.[0]?.pointer]).toEqual([422, '/hooks/0/url']);
      expect((await put(id, [{ ...ON_BEFORE, url: hooked.webhooks.url, secretEnv: 'TOOLYARD_API_KEY' }])).status).toBe(422);
    });

    it('refuses a hook of a session a private address by its name', async () => {
      const sessionId = hooked.newSession('own');
      const { port } = new URL(hooked.webhooks.url);
      expect((await put(sessionId, [{ ...ON_BEFORE, onError: 'deny', url: `http://localhost:${port}/by-name` }])).status).toBe(200);
      expect(problemOf(await agent.submit('echo', {}, { sessionId })).detail).toContain('its address is not allowed');
      expect(hooked.webhooks.to('/by-name')).toEqual([]);
    });

    it('runs the hooks of a session for its calls until they are removed', async () => {
      const sessionId = hooked.newSession('own');
      hooked.webhooks.on('/session', { decision: 'deny', reason: 'not in this session' });
      const { body } = await put(sessionId, [{ ...ON_BEFORE, url: `${hooked.webhooks.url}/session` }]);
      expect(body.hooks).toMatchObject([{ name: 'guard', url: `${hooked.webhooks.url}/session`, timeoutMs: 10_000 }]);
      expect(problemOf(await agent.submit('echo', {}, { sessionId })).detail).toContain('not in this session');
      expect((await agent.run('echo', {})).outcome).toBe('completed');
      await put(sessionId, null);
      expect((await agent.run('echo', {}, { sessionId })).outcome).toBe('completed');
    });
  });

  describe('the hooks in force', () => {
    it('applies changed hooks of the config file to the next call; an accepted call keeps its own', async () => {
      const sessionId = hooked.newSession('kept');
      await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' } });
      const { body: waiting } = await hooked.submitAs('kept', 'file_write', { path: 'kept.txt', content: 'x' }, { sessionId });
      expect(waiting.status).toBe('waiting_approval');
      await hooked.change('kept', { hooks: [{ ...ON_AFTER, command: 'printf second edition' }] });
      await eventually(
        async () => textOf(await hooked.runAs('kept')).endsWith('Hook feedback:\nsecond'),
        'the second edition to be in force',
      );
      await agent.request('POST', `/v1/calls/${waiting.id}/decision`, { decision: 'allow' });
      expect(textOf(await agent.ended(waiting.id))).toMatch(/Hook feedback:\nfirst$/);
    });

    it('spends nothing on a call without hooks [HK-07]', async () => {
      const call = await agent.run('echo', {});
      expect((await agent.events(call.id))[0]?.data).not.toHaveProperty('hooks');
      expect(call.result?.details).toBeUndefined();
    });
  });
}
