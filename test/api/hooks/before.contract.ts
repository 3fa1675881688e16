import { createHmac } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch, Call, Quote } from '#contracts';
import type { Agent } from '../../support/agent.js';
import { HOOK_SECRET, HOOK_TOKEN } from '../../support/hook-secrets.js';
import { type HookTenant, isAlive, problemOf, textOf, type HookTestAgents } from '../../support/hook-tenant.js';

const ON_BEFORE = { name: 'guard', on: 'before' } as const;
const HOOK_GITHUB = 'ghp_0a1b2c3d4e5f6g7h8i9j0a1b2c3d4e5f6g7h';
const refuses = "echo 'not on a Friday' >&2; exit 2";
const hookReasons = ({ decision }: Call) => decision.reasons.filter(({ axis }) => axis === 'hooks');

export const beforeAgents = (files: HookTenant): HookTestAgents => {
  const url = (path: string) => `${files.webhooks.url}${path}`;
  const at = (name: string) => files.at(name);
  const sleeper = (name: string) => files.sleeper(name);
  const refusing = (profile: 'core' | 'kiro' | 'claw' | 'phi') => ({ policy: { profile }, hooks: [{ ...ON_BEFORE, command: refuses }] });
  return {
    refusing: refusing('core'),
    kiro: refusing('kiro'),
    claw: refusing('claw'),
    phi: refusing('phi'),
    keeping: { hooks: [{ ...ON_BEFORE, url: url('/keeping'), cacheMs: 60_000, secrets: true }] },
    saying: { hooks: [{ ...ON_BEFORE, command: 'printf note' }] },
    // The reasons of a decision are cut at 1,000 characters, what is read of a hook at 50 bytes here.
    leaking: {
      hooks: [
        { ...ON_BEFORE, command: `printf 'x%.0s' $(seq 950); echo ' ${HOOK_GITHUB}'` },
        { ...ON_BEFORE, name: 'short', command: `printf 'y%.0s' $(seq 30); echo ' ${HOOK_GITHUB}'`, maxOutputBytes: 50 },
        { name: 'after', on: 'after', command: `printf 'z%.0s' $(seq 30); echo ' ${HOOK_GITHUB}'`, maxOutputBytes: 50 },
      ],
    },
    silent: { policy: { profile: 'kiro' }, hooks: [{ ...ON_BEFORE, command: 'exit 2' }] },
    excluding: { policy: { exclude: ['file_write'] }, hooks: [{ ...ON_BEFORE, command: `touch ${at('excluded')}` }] },
    three: {
      hooks: [
        { ...ON_BEFORE, name: 'one', command: `touch ${at('one')}` },
        { ...ON_BEFORE, name: 'two', command: refuses },
        { ...ON_BEFORE, name: 'three', command: `touch ${at('three')}` },
      ],
    },
    rewriting: {
      hooks: [
        { ...ON_BEFORE, url: url('/rewrite') },
        { ...ON_BEFORE, name: 'second', url: url('/second') },
      ],
    },
    breaking: { hooks: [{ ...ON_BEFORE, command: 'printf \'{"arguments":{"path":7}}\'' }] },
    forbidding: {
      policy: { commands: { deniedCommands: ['rm .*'] } },
      hooks: [{ ...ON_BEFORE, command: 'printf \'{"arguments":{"command":"rm a"}}\'' }],
    },
    misspelt: { hooks: [{ ...ON_BEFORE, command: 'printf \'{"decision":"Deny"}\'', onError: 'deny' }] },
    failing: { hooks: [{ ...ON_BEFORE, command: `echo ${HOOK_SECRET} >&2; exit 1` }] },
    strict: { hooks: [{ ...ON_BEFORE, command: 'exit 1', onError: 'deny' }] },
    slow: { hooks: [{ ...ON_BEFORE, command: sleeper('slow-pids'), timeoutMs: 1_500, onError: 'deny' }] },
    'slow-web': { hooks: [{ ...ON_BEFORE, url: url('/never'), timeoutMs: 300, onError: 'deny' }] },
    'slow-web-allowed': { hooks: [{ ...ON_BEFORE, url: url('/never'), timeoutMs: 300 }] },
    'slow-module': { hooks: [{ ...ON_BEFORE, module: at('never.mjs'), timeoutMs: 300, onError: 'deny' }] },
    'slow-module-allowed': { hooks: [{ ...ON_BEFORE, module: at('never.mjs'), timeoutMs: 300 }] },
    redirecting: { hooks: [{ ...ON_BEFORE, url: url('/redirect'), onError: 'deny' }] },
    'page-answer': { hooks: [{ ...ON_BEFORE, url: url('/page'), onError: 'deny' }] },
    chatty: {
      hooks: [
        {
          ...ON_BEFORE,
          command: 'printf \'{"reason":"%s"}\' $(head -c 5000 /dev/zero | tr "\\0" x)',
          maxOutputBytes: 100,
          onError: 'deny',
        },
      ],
    },
    matching: { hooks: [{ ...ON_BEFORE, match: ['file_*'], command: refuses }] },
    telling: {
      hooks: [
        {
          ...ON_BEFORE,
          command: `cat > ${at('stdin.json')}; env > ${at('env')}`,
          env: ['HOOK_TEST_SECRET'],
        },
      ],
    },
    signed: {
      hooks: [{ ...ON_BEFORE, url: url('/signed'), secretEnv: 'HOOK_TEST_SECRET', headersEnv: { Authorization: 'HOOK_TEST_TOKEN' } }],
    },
    module: { hooks: [{ ...ON_BEFORE, module: at('guard.mjs') }] },
  };
};

/** Hooks before a call: what they may answer, and what they are given. */
export function hooksBeforeContract(started: () => HookTenant): void {
  let hooked: HookTenant;
  let agent: Agent;
  beforeAll(() => {
    hooked = started();
    ({ agent } = hooked);
    writeFileSync(hooked.at('guard.mjs'), 'export default async ({ tool_input }) => tool_input.fine === true;\n');
    writeFileSync(hooked.at('never.mjs'), 'export default () => new Promise(() => {});\n');
  });

  describe('a hook before a call', () => {
    it('refuses a call if a hook exits with 2: a recorded call without Start, with the reason and a result for the model [HK-01, K-14, K-16]', async () => {
      const refused = await hooked.submitAs('refusing');
      const problem = problemOf(refused);
      expect([refused.status, problem.code]).toEqual([403, 'hook_rejected']);
      expect(problem.result?.content).toEqual([{ type: 'text', text: 'Rejected by hook `guard`: not on a Friday' }]);
      const { body: call } = await agent.get(`/v1/calls/${problem.callId}`);
      expect(call).toMatchObject({ status: 'ended', outcome: 'denied', attempt: 0, error: { code: 'hook_rejected', retryable: false } });
      expect(call.decision.effect).toBe('deny');
      expect(hookReasons(call)).toEqual([
        { axis: 'hooks', rule: 'guard', effect: 'deny', reason: expect.stringMatching(/^refused the call \(\d+ ms\): not on a Friday$/) },
      ]);
      expect((await agent.events(call.id)).map(({ type }) => type)).toEqual(['call.submitted', 'call.hook', 'call.hook', 'call.end']);
    });

    it('reports the denial of a hook in the words of the agent of the profile [HK-02, HK-14]', async () => {
      const texts = await Promise.all(
        ['kiro', 'claw', 'phi', 'silent'].map(async (name) => textOf(problemOf(await hooked.submitAs(name)))),
      );
      expect(texts).toEqual([
        'PreToolHook blocked the tool execution: not on a Friday',
        'PreToolUse hook denied tool `echo`: not on a Friday',
        'Tool execution skipped by before_tool_execution hook.',
        'PreToolHook blocked the tool execution: no output provided',
      ]);
    });

    it('asks no hook about a tool that the rules of the agent exclude [CN-01]', async () => {
      const refused = await hooked.submitAs('excluding', 'file_write', { path: 'a', content: 'b' });
      expect([refused.status, existsSync(hooked.at('excluded'))]).toEqual([403, false]);
      expect((await hooked.runAs('excluding')).outcome).toBe('completed');
      expect(existsSync(hooked.at('excluded'))).toBe(true);
    });

    it('asks no hook after one that refuses [HK-19]', async () => {
      expect(problemOf(await hooked.submitAs('three')).code).toBe('hook_rejected');
      expect([existsSync(hooked.at('one')), existsSync(hooked.at('three'))]).toEqual([true, false]);
    });

    it('appends the text of an allowing hook below the output for the model [RP-24]', async () => {
      const call = await hooked.runAs('saying');
      expect(textOf(call)).toMatch(/Hook feedback:\nnote$/);
      expect(hookReasons(call)[0]?.reason).toMatch(/^let the call pass \(\d+ ms\): note$/);
    });

    it('redacts a secret for all readers that a hook prints cut in half', async () => {
      const call = await hooked.runAs('leaking');
      expect(hookReasons(call).map(({ reason }) => reason.replace(/^.*: /s, ''))).toEqual([
        expect.stringMatching(/^x{950} \[REDACTED\]$/),
        `${'y'.repeat(30)} [REDACTED]`,
      ]);
      expect(textOf(call)).toMatch(/z{30} \[REDACTED\]$/);
      expect(JSON.stringify([call, await agent.events(call.id)])).not.toContain(HOOK_GITHUB.slice(0, 12));
    });

    it('stops the other calls of an all-or-nothing batch when a hook refuses one [RP-27]', async () => {
      const calls = [
        { tool: 'echo', arguments: { n: 1 } },
        { tool: 'file_write', arguments: { path: 'a', content: 'b' } },
      ];
      const body = { agentId: 'matching', onFailure: 'abort', strategy: { type: 'sequential' }, calls };
      const { body: batch } = await agent.request<Batch>('POST', '/v1/batches', body, { prefer: 'wait=60' });
      expect(batch).toMatchObject({ status: 'ended', stopped: { reason: 'aborted' } });
      expect(batch.results.map(({ outcome, error }) => [outcome, error?.code])).toEqual([
        ['cancelled', 'cancelled'],
        ['denied', 'hook_rejected'],
      ]);
    });

    it('applies arguments rewritten by a hook to the next hook, the tool and the call', async () => {
      hooked.webhooks.on('/rewrite', { arguments: { n: 2 } });
      const call = await hooked.runAs('rewriting');
      expect(call).toMatchObject({ outcome: 'completed', arguments: { n: 2 } });
      expect(call.result?.content).toEqual([{ type: 'json', json: { n: 2 } }]);
      expect(hooked.webhooks.to('/second').at(-1)?.input.tool_input).toEqual({ n: 2 });
      expect(hookReasons(call).map(({ reason }) => reason)).toEqual([
        expect.stringMatching(/^rewrote the arguments \(\d+ ms\)$/),
        expect.stringMatching(/^let the call pass \(\d+ ms\)$/),
      ]);
    });

    it('asks a hook the same question once in its session, and reuses its rewrite', async () => {
      hooked.webhooks.on('/keeping', { arguments: { n: 3 }, reason: 'fine' });
      const sessionId = hooked.newSession('keeping');
      for (let n = 0; n < 2; n++)
        expect(await hooked.runAs('keeping', 'echo', { n: 1 }, { sessionId })).toMatchObject({ outcome: 'completed', arguments: { n: 3 } });
      expect(hooked.webhooks.to('/keeping').map(({ input }) => input.tool_input)).toEqual([{ n: 1 }]);
    });

    it('asks a hook again when the session was deleted and is used again', async () => {
      hooked.webhooks.on('/keeping', { reason: 'fine' });
      const sessionId = hooked.newSession('keeping');
      const asked = () => hooked.webhooks.to('/keeping').filter(({ input }) => input.session_id === sessionId).length;
      const run = () => hooked.runAs('keeping', 'echo', { n: 1 }, { sessionId });
      await run();
      await run();
      expect(asked()).toBe(1);
      expect((await agent.request('DELETE', `/v1/sessions/${sessionId}`)).status).toBeLessThan(300);
      await run();
      expect(asked()).toBe(2);
    });

    it('refuses a call whose hook rewrites the arguments into invalid ones, with the fault', async () => {
      const refused = await hooked.submitAs('breaking', 'file_write', { path: 'a', content: 'b' });
      expect([refused.status, problemOf(refused).code]).toEqual([403, 'hook_rejected']);
      expect(problemOf(refused).detail).toMatch(/^Hook `guard` rewrote the arguments of file_write into invalid ones: /);
      expect(problemOf(refused).errors).toEqual(expect.arrayContaining([expect.objectContaining({ pointer: '/arguments/path' })]));
    });

    it('enforces the policy on arguments rewritten by a hook', async () => {
      const refused = await hooked.submitAs('forbidding', 'shell', { command: 'echo fine' });
      expect([refused.status, problemOf(refused).code]).toEqual([403, 'policy_denied']);
    });

    it('asks a hook before a person, who then sees and approves the rewritten arguments [K-05, K-15]', async () => {
      hooked.webhooks.on('/rewrite', { arguments: { path: 'rewritten.txt', content: 'x' } });
      const sessionId = hooked.newSession('asking');
      await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' } });
      const args = { path: 'asked.txt', content: 'x' };
      const { body: waiting } = await hooked.submitAs('rewriting', 'file_write', args, { sessionId });
      expect(waiting).toMatchObject({ status: 'waiting_approval', arguments: { path: 'rewritten.txt' } });
      await agent.request('POST', `/v1/calls/${waiting.id}/decision`, { decision: 'allow' });
      expect(await agent.ended(waiting.id)).toMatchObject({ outcome: 'completed', arguments: { path: 'rewritten.txt' } });
      expect(problemOf(await hooked.submitAs('refusing', 'file_write', args, { sessionId })).code).toBe('hook_rejected');
    });

    it('passes a call with a warning when a hook fails, or refuses it with onError deny; printed texts stay private [HK-15]', async () => {
      const call = await hooked.runAs('failing');
      expect(call.outcome).toBe('completed');
      expect(hookReasons(call)[0]?.reason).toMatch(/Hook `guard` exited with status 1; allowing tool execution to continue$/);
      expect(JSON.stringify(await agent.events(call.id))).not.toContain(HOOK_SECRET);
      const { body } = await hooked.submitAs('strict');
      expect(body).toMatchObject({
        code: 'hook_rejected',
        detail: 'Hook `guard` exited with status 1; without its answer the call is refused',
      });
    });

    it('treats a misspelt verdict of a hook as a failure, not as approval', async () => {
      expect(problemOf(await hooked.submitAs('misspelt')).detail).toContain(
        'answered with an invalid verdict: decision: expected allow or deny',
      );
    });

    it('kills an overdue hook with all its processes, and applies its onError [HK-09, HK-12]', async () => {
      const refused = await hooked.submitAs('slow');
      expect(problemOf(refused).detail).toBe('Hook `guard`: command timed out after 1500 ms; without its answer the call is refused');
      expect((await hooked.pidsIn('slow-pids')).filter(isAlive)).toEqual([]);
    });

    it('asks a webhook before a call, and applies onError to its silence [HK-09, K-14]', async () => {
      hooked.webhooks.on('/never', () => {});
      expect(problemOf(await hooked.submitAs('slow-web'))).toMatchObject({
        code: 'hook_rejected',
        detail: expect.stringContaining('timed out after 300 ms'),
      });
      expect((await hooked.runAs('slow-web-allowed')).outcome).toBe('completed');
    });

    it('follows no redirect of a webhook before a call, and reads a web page as no answer', async () => {
      hooked.webhooks.on(
        '/redirect',
        (_request, response) => void response.writeHead(302, { location: `${hooked.webhooks.url}/elsewhere` }).end(),
      );
      hooked.webhooks.on('/page', (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Log in'));
      expect(problemOf(await hooked.submitAs('redirecting')).detail).toContain('Hook `guard` answered 302; redirects are not followed');
      expect(hooked.webhooks.to('/elsewhere')).toEqual([]);
      expect(problemOf(await hooked.submitAs('page-answer')).detail).toContain('answered with text/html; expected application/json');
    });

    it('fails a hook that writes more than it may', async () => {
      expect(problemOf(await hooked.submitAs('chatty')).detail).toContain('answered with more JSON than its maxOutputBytes allow');
    });

    it('asks a hook only about the tools that it matches [HK-11]', async () => {
      expect((await hooked.runAs('matching')).outcome).toBe('completed');
      expect(problemOf(await hooked.submitAs('matching', 'file_write', { path: 'a', content: 'b' })).code).toBe('hook_rejected');
    });

    it('passes the call to a hook as JSON and as variables, with only the environment that it names [HK-13, HK-17]', async () => {
      const sessionId = hooked.newSession('hooked');
      const call = await hooked.runAs('telling', 'echo', { n: 1 }, { sessionId, toolCallId: 'call-1' });
      expect(JSON.parse(readFileSync(hooked.at('stdin.json'), 'utf8'))).toMatchObject({
        hook_event_name: 'PreToolUse',
        cwd: expect.stringContaining(sessionId),
        session_id: sessionId,
        tool_name: 'echo',
        tool_input: { n: 1 },
        call_id: call.id,
        tenant_id: hooked.tenant.tenantId,
        agent_id: 'telling',
        tool_call_id: 'call-1',
      });
      const env = hooked.linesOf('env');
      expect(env).toEqual(
        expect.arrayContaining([
          'HOOK_EVENT=PreToolUse',
          'HOOK_TOOL_NAME=echo',
          'HOOK_TOOL_INPUT={"n":1}',
          'HOOK_TOOL_IS_ERROR=0',
          `HOOK_TEST_SECRET=${HOOK_SECRET}`,
        ]),
      );
      expect(env.filter((line) => /^(TOOLYARD|REDIS|HOOK_TEST_TOKEN)/.test(line))).toEqual([]);
    });

    it('signs a webhook before a call by Standard Webhooks, and never shows its secret', async () => {
      expect((await hooked.runAs('signed')).outcome).toBe('completed');
      const [request] = hooked.webhooks.to('/signed');
      const signed = `${String(request?.headers['webhook-id'])}.${String(request?.headers['webhook-timestamp'])}.${request?.text}`;
      const expected = createHmac('sha256', Buffer.from(HOOK_SECRET.slice(6), 'base64'))
        .update(signed)
        .digest('base64');
      expect(request?.headers).toMatchObject({
        'webhook-signature': `v1,${expected}`,
        authorization: HOOK_TOKEN,
        'content-type': 'application/json',
      });
    });

    it('asks a function of a module before a call: false refuses, and onError applies to silence [HK-09, K-14]', async () => {
      expect((await hooked.runAs('module', 'echo', { fine: true })).outcome).toBe('completed');
      expect(problemOf(await hooked.submitAs('module', 'echo', { fine: false })).code).toBe('hook_rejected');
      const slow = problemOf(await hooked.submitAs('slow-module'));
      expect([slow.code, slow.detail]).toEqual(['hook_rejected', expect.stringContaining('timed out after 300 ms')]);
      expect((await hooked.runAs('slow-module-allowed')).outcome).toBe('completed');
    });

    it('asks no hook by a quote', async () => {
      const { body } = await agent.request<Quote>('POST', '/v1/calls:quote', { tool: 'echo', arguments: {}, agentId: 'three' });
      expect(body.approvalNeeded).toBe(false);
    });
  });
}
