import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type {
  BulkResult,
  Call,
  CallCount,
  CallFacets,
  CallPage,
  FailurePage,
  PolicyTestResult,
  Problem,
  Quote,
  SessionPage,
  Stats,
  ToolStatsPage,
  UsagePage,
} from '#contracts';
import { eventually } from '../support/eventually.js';
import { Agent } from '../support/agent.js';
import { startCli } from '../support/cli.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { tenantUsageContract } from './queries/tenant-usage.contract.js';

describe('lists, counts and numbers', () => {
  let gateway: TestGateway;
  let agent: Agent;
  let stranger: Agent;

  beforeAll(async () => {
    const all = ['submit', 'read', 'cancel'] as const;
    gateway = await startTestGateway('queries', {
      lists: true,
      keys: [
        { id: 'all', key: 'key-of-the-queries', tenant: 'queries', agents: ['ann', 'ann2'], users: ['*'], scopes: [...all] },
        { id: 'reader', key: 'key-that-only-reads', tenant: 'queries', scopes: ['read'] },
        { id: 'judge', key: 'key-of-the-judge', tenant: 'queries', scopes: ['read', 'admin'] },
        { id: 'operator', key: 'key-of-the-operator', tenant: 'default', scopes: ['read', 'operate'] },
        { id: 'stranger', key: 'key-of-a-stranger', tenant: 'stranger', scopes: [...all] },
      ],
    });
    agent = new Agent(gateway.url, 'key-of-the-queries');
    stranger = new Agent(gateway.url, 'key-of-a-stranger');
  });
  afterAll(() => gateway.close());

  const submit = async (sessionId: string, args: object = {}): Promise<Call> =>
    (await agent.submit('echo', args, { sessionId, agentId: 'ann' })).body;
  const failed = async (sessionId: string, message: string) => {
    const call = await submit(sessionId);
    await gateway.run(call.id, 'x', { outcome: 'failed', runMs: 40, error: { code: 'tool_failed', message, retryable: false } });
    return call.id;
  };
  const count = async (query: string) => (await agent.get<CallCount>(`/v1/calls:count?${query}`)).body;

  describe('questions over many calls', () => {
    it('counts the calls that a list shows, right after the submission', async () => {
      await submit('counted');
      await submit('counted', { needle: 'Haystack' });
      expect(await count('sessionId=counted')).toEqual({ count: 2, exact: true });
      expect(await count('sessionId=counted&q=hay&status=queued,running')).toEqual({ count: 1, exact: true });
      expect(await count('sessionId=counted,other&tool=echo&pool=read&priority=normal')).toEqual({ count: 2, exact: true });
      expect(await count('sessionId=counted&outcome=failed')).toEqual({ count: 0, exact: true });
    });

    it('counts the values of each field as if the filter did not name it', async () => {
      await gateway.run((await submit('faceted')).id, 'x', { outcome: 'completed', runMs: 40 });
      await submit('faceted', { needle: 'Haystack' });
      await submit('faceted-too');
      const facets = async (query: string) => (await agent.get<CallFacets>(`/v1/calls:facets?${query}`)).body;
      const sessions = [
        { value: 'faceted', count: 2 },
        { value: 'faceted-too', count: 1 },
      ];
      const all = 'sessionId=faceted,faceted-too';
      expect((await facets(`${all}&q=facet`)).status).toEqual([
        { value: 'queued', count: 2 },
        { value: 'ended', count: 1 },
      ]);
      const narrowed = await facets(`q=facet&sessionId=faceted&status=queued`);
      expect(narrowed).toEqual({
        status: [
          { value: 'ended', count: 1 },
          { value: 'queued', count: 1 },
        ],
        outcome: [],
        tool: [{ value: 'echo', count: 1 }],
        agentId: [{ value: 'ann', count: 1 }],
        sessionId: sessions.map(({ value }) => ({ value, count: 1 })),
        pool: [{ value: 'read', count: 1 }],
        risk: [{ value: 'low', count: 1 }],
        exact: true,
      });
      // The same when the calls have become rows.
      const found = async () => (await agent.get<SessionPage>('/v1/sessions?q=CETED-T')).body.sessions.map(({ sessionId }) => sessionId);
      await eventually(async () => (await found()).length > 0, 'the session to have a row');
      expect(await found()).toEqual(['faceted-too']);
      expect(await facets(`q=facet&sessionId=faceted&status=queued`)).toEqual(narrowed);
      expect((await facets(`${all}&q=facet`)).sessionId).toEqual(sessions);
      expect((await stranger.get<CallFacets>('/v1/calls:facets')).body).toMatchObject({ tool: [], sessionId: [] });
    });

    it('points at the fault of a wrong question over many calls', async () => {
      for (const [path, pointer] of [
        ['/v1/calls?status=sleeping', '/status'],
        ['/v1/calls?colour=blue', '/colour'],
        ['/v1/calls?since=yesterday', '/since'],
        ['/v1/calls?limit=201', '/limit'],
        ['/v1/calls?cursor=zzz', '/cursor'],
        ['/v1/calls?q=%21%21', '/q'],
        ['/v1/calls:count?fingerprint=abc', '/fingerprint'],
        ['/v1/stats?stepMs=0', '/stepMs'],
        ['/v1/stats?since=2999-01-01T00:00:00Z', '/since'],
        ['/v1/failures?until=now', '/until'],
        ['/v1/sessions?limit=x', '/limit'],
      ] as const) {
        const { status, body } = await agent.get<Problem>(path);
        expect([path, status, body.code, body.errors?.[0]?.pointer]).toEqual([path, 422, 'invalid_request', pointer]);
      }
      const { body } = await agent.request<Problem>('POST', '/v1/calls:cancel', { filter: {}, dryRun: true });
      expect(body.errors?.[0]?.pointer).toBe('/filter');
    });

    it('groups similar failures, and links from the group to its calls', async () => {
      const first = await failed('failures', 'No such file: "/a/b.txt" at line 17');
      const second = await failed('failures', 'No such file: "/c/d.txt" at line 4');
      await failed('failures', 'Connection refused by 10.0.0.1:80');
      const groups = await eventually(async () => {
        const { body } = await agent.get<FailurePage>('/v1/failures');
        return body.failures.reduce((sum, group) => sum + group.count, 0) >= 3 ? body.failures : undefined;
      }, 'the failures to be counted');
      expect(groups.map(({ tool, code, count: calls }) => [tool, code, calls])).toEqual([
        ['echo', 'tool_failed', 2],
        ['echo', 'tool_failed', 1],
      ]);
      expect(groups[0]).toMatchObject({ lastCallId: second, message: 'No such file: "/c/d.txt" at line 4' });
      const { body } = await agent.get<CallPage>(`/v1/calls?fingerprint=${groups[0]?.fingerprint ?? ''}`);
      expect(body.calls.map(({ id }) => id)).toEqual([second, first]);
      expect(body.calls[0]).toMatchObject({ outcome: 'failed', runMs: 40, error: { code: 'tool_failed' }, retrying: false });
    });

    it('returns numbers over time, by tool, and of open calls', async () => {
      const before = await eventually(async () => {
        const { body } = await agent.get<Stats>('/v1/stats');
        return body.behind === undefined ? body : undefined;
      }, 'the rows of all calls before');
      const running = await submit('numbers');
      await gateway.claim(running.id);
      await gateway.run((await submit('numbers')).id, 'done', { runMs: 100 });
      await submit('numbers');
      const sum = (stats: Stats, read: (point: Stats['series'][number]) => number) =>
        stats.series.reduce((all, point) => all + read(point), 0);
      const after = await eventually(async () => {
        const { body } = await agent.get<Stats>('/v1/stats?stepMs=60000');
        return sum(body, ({ submitted }) => submitted) >= sum(before, ({ submitted }) => submitted) + 3 && body.behind === undefined
          ? body
          : undefined;
      }, 'the numbers to come');
      expect(after.stepMs).toBe(60_000);
      expect(sum(after, ({ ended }) => ended) - sum(before, ({ ended }) => ended)).toBe(1);
      expect(after.now.running - before.now.running).toBe(1);
      expect(after.now.byTool.top.find(({ name }) => name === 'echo')?.running).toBe(after.now.running);
      expect(after.now.byAgent.top[0]?.name).toBe('ann');
      expect(after.now.byPool.find(({ name }) => name === 'read')?.queued).toBe(after.now.queued);
      const { body: tools } = await agent.get<ToolStatsPage>('/v1/stats/tools');
      const [echo] = tools.tools;
      expect([echo?.tool, echo?.calls, echo?.failed]).toEqual(['echo', sum(after, ({ ended }) => ended), 3]);
      expect(echo?.errorRate).toBeCloseTo(3 / (echo?.calls ?? 1));
      expect(Math.abs((echo?.run.p99 ?? 0) - 100)).toBeLessThan(10);
      await eventually(async () => {
        const { sessions } = (await agent.get<SessionPage>('/v1/sessions?limit=200')).body;
        return sessions.find(({ sessionId }) => sessionId === 'numbers')?.calls === 3;
      }, 'the session to be listed');
    });

    it('hides a tenant’s calls from another tenant’s queries over many calls', async () => {
      await submit('secret', { text: 'whisper' });
      expect((await stranger.get<CallPage>('/v1/calls?q=whisper')).body).toMatchObject({ calls: [] });
      expect((await stranger.get<CallCount>('/v1/calls:count')).body).toMatchObject({ count: 0 });
      expect((await stranger.get<FailurePage>('/v1/failures')).body.failures).toEqual([]);
      expect((await stranger.get<SessionPage>('/v1/sessions')).body.sessions).toEqual([]);
      expect((await stranger.get<ToolStatsPage>('/v1/stats/tools')).body.tools).toEqual([]);
      expect((await stranger.get<Stats>('/v1/stats')).body.now).toMatchObject({ running: 0, queued: 0, waitingApproval: 0 });
      const { body } = await stranger.request<BulkResult>('POST', '/v1/calls:cancel', { filter: { sessionId: 'secret' } });
      expect(body).toEqual({ matched: 0, exact: true, done: 0, failed: [] });
    });

    it('shows the user and the risk of each call, as quotes do, and filters by them', async () => {
      const calls = [
        ['echo', {}, 'low'],
        ['file_write', { path: 'a', content: '' }, 'medium'],
        ['shell', { command: 'ls' }, 'low'],
        ['shell', { command: 'git push' }, 'medium'],
        ['shell', { command: 'ls; rm -rf build' }, 'high'],
        ['repl', { code: 'print(1)', language: 'python' }, 'high'],
      ] as const;
      for (const [tool, args, risk] of calls) {
        const { body } = await agent.submit(tool, args, { sessionId: 'risky', userId: risk === 'high' ? 'eve' : 'bob' });
        expect([tool, body.risk]).toEqual([tool, risk]);
        const quote = await agent.request<Quote>('POST', '/v1/calls:quote', { tool, arguments: args });
        expect(quote.body.risk).toBe(risk);
      }
      const found = async (query: string) => (await agent.get<CallPage>(`/v1/calls?sessionId=risky&${query}`)).body.calls;
      expect((await found('')).map(({ tool, risk }) => [tool, risk]).toReversed()).toEqual(
        calls.map(([tool, _args, risk]) => [tool, risk]),
      );
      expect(await found('risk=high,medium')).toHaveLength(4);
      expect((await found('userId=eve')).map(({ risk, userId }) => [risk, userId])).toEqual([
        ['high', 'eve'],
        ['high', 'eve'],
      ]);
      const listed = async () => (await count('sessionId=risky&userId=bob&risk=low')).count;
      expect(await listed()).toBe(2);
      expect((await agent.get<CallFacets>('/v1/calls:facets?sessionId=risky&risk=high')).body.risk).toEqual(
        ['high', 'low', 'medium'].map((value) => ({ value, count: 2 })),
      );
      expect((await agent.get<Problem>('/v1/calls?risk=none')).body).toMatchObject({ errors: [{ pointer: '/risk' }] });
    });
  });

  describe('changes to many calls', () => {
    it('cancels all open calls of a filter, after a dry run that changes nothing, a limited number a request', async () => {
      const ids = [];
      for (let n = 0; n < 5; n += 1) ids.push((await submit('bulk')).id);
      await gateway.run(ids[0] ?? '');
      const filter = { sessionId: 'bulk' };
      const cancel = async (body: object) => (await agent.request<BulkResult>('POST', '/v1/calls:cancel', { filter, ...body })).body;
      expect(await cancel({ dryRun: true })).toEqual({ matched: 4, exact: true, done: 0, failed: [] });
      expect(await count('sessionId=bulk&status=queued')).toEqual({ count: 4, exact: true });
      const first = await cancel({ limit: 3, reason: 'enough' });
      expect(first).toMatchObject({ matched: 4, done: 3, failed: [] });
      expect(await cancel({ limit: 3, cursor: first.cursor })).toMatchObject({ done: 1 });
      expect(await count('sessionId=bulk&outcome=cancelled')).toEqual({ count: 4, exact: true });
      expect(await cancel({})).toMatchObject({ matched: 0, done: 0 });
    });

    it('replays all ended calls of a filter, each once for the same key', async () => {
      await failed('again', 'broke');
      await failed('again', 'broke too');
      await submit('again');
      const replay = async () =>
        (
          await agent.request<BulkResult>(
            'POST',
            '/v1/calls:replay',
            { filter: { sessionId: ['again'], outcome: 'failed,cancelled' } },
            {
              'idempotency-key': 'replay-of-again',
            },
          )
        ).body;
      expect(await replay()).toMatchObject({ matched: 2, done: 2, failed: [] });
      expect(await replay()).toMatchObject({ matched: 2, done: 2, failed: [] });
      expect(await count('sessionId=again')).toEqual({ count: 5, exact: true });
      const { calls } = (await agent.get<CallPage>('/v1/calls?sessionId=again')).body;
      expect(calls.filter(({ replayOf }) => replayOf !== undefined)).toHaveLength(2);
    });

    it('requires the scope of the single change for changes to many calls', async () => {
      const reader = new Agent(gateway.url, 'key-that-only-reads');
      for (const path of ['/v1/calls:cancel', '/v1/calls:replay']) {
        const { status } = await reader.request('POST', path, { filter: { tool: 'echo' }, dryRun: true });
        expect([path, status]).toEqual([path, 403]);
      }
      expect((await reader.get('/v1/stats')).status).toBe(200);
    });

    it('folds paths with and without folders into one failure group', async () => {
      const paths = ['docs/plan.md', 'src/missing.ts', 'nope.txt', './a', '../b/c.tar.gz', '/etc/x', '.env', 'build/'];
      for (const path of paths) await failed('paths', `File not found: ${path}. Use glob to see what is there.`);
      await failed('paths', 'File not found: 3 of 4. Use glob to see what is there.');
      const groups = await eventually(async () => {
        const { failures } = (await agent.get<FailurePage>('/v1/failures')).body;
        const found = failures.filter(({ message }) => message.startsWith('File not found'));
        return found.reduce((sum, group) => sum + group.count, 0) === paths.length + 1 ? found : undefined;
      }, 'the failures to be counted');
      expect(groups.map(({ count: calls, message }) => [calls, message])).toEqual([
        [paths.length, 'File not found: build/. Use glob to see what is there.'],
        [1, 'File not found: 3 of 4. Use glob to see what is there.'],
      ]);
    });
  });

  describe('usage', () => {
    it('sums the usage of agents by hour, of the tenant alone, and exports it as CSV', async () => {
      const judge = new Agent(gateway.url, 'key-of-the-judge');
      const used = (query: string, by = judge) => by.get<UsagePage & Problem>(`/v1/usage?agentId=ann2${query}`);
      const run = async (outcome: 'completed' | 'failed', runMs: number, cpuMs?: number) => {
        const { body } = await agent.submit('echo', {}, { agentId: 'ann2' });
        const error = outcome === 'failed' ? { error: { code: 'tool_failed' as const, message: 'no', retryable: false } } : {};
        const result = { content: [{ type: 'text' as const, text: 'äbc' }], isError: false };
        await gateway.run(body.id, 'x', { outcome, runMs, ...(cpuMs === undefined ? {} : { cpuMs }), result, ...error });
      };
      await run('completed', 40, 12);
      await run('failed', 60);
      await agent.request(
        'PUT',
        '/v1/sessions/used',
        { posture: { permissionMode: 'prompt' } },
        { authorization: 'Bearer key-of-the-judge' },
      );
      const { body: asked } = await agent.submit('file_write', { path: 'a', content: 'b' }, { agentId: 'ann2', sessionId: 'used' });
      expect(asked.status).toBe('waiting_approval');
      await agent.request('POST', `/v1/calls/${asked.id}/cancel`, {});
      const { rows } = await eventually(async () => {
        const { body } = await used('');
        return body.behind === undefined && body.rows.reduce((sum, { calls }) => sum + calls, 0) === 3 ? body : undefined;
      }, 'the calls to be in the rows');
      const sum = (name: 'calls' | 'failed' | 'approvals' | 'runMs' | 'outputBytes') => rows.reduce((all, row) => all + row[name], 0);
      expect([sum('calls'), sum('failed'), sum('approvals'), sum('runMs')]).toEqual([3, 1, 1, 100]);
      expect(rows.map(({ cpuMs, cpuCalls }) => [cpuMs, cpuCalls]).filter(([ms, calls]) => ms !== undefined || calls !== 0)).toEqual([
        [12, 1],
      ]);
      expect(sum('outputBytes')).toBeGreaterThanOrEqual(8);
      expect(rows.every(({ at }) => at.endsWith(':00:00.000Z'))).toBe(true);
      const tools = (await used('&by=tool')).body.rows;
      const of = (name: string) => tools.filter(({ tool }) => tool === name).reduce((all, { calls }) => all + calls, 0);
      expect([of('echo'), of('file_write')]).toEqual([2, 1]);
      expect(tools.every(({ agentId }) => agentId === undefined)).toBe(true);
      expect((await used('&tool=file_write')).body.rows).toMatchObject([{ agentId: 'ann2', calls: 1, waitMs: 0 }]);
      expect((await used('', stranger)).body.rows).toEqual([]);
      expect((await used('&since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z')).body.code).toBe('invalid_request');
      const words = ['usage', '--agent', 'ann2', '--csv', '--per', 'day'];
      const { code, out } = await startCli(words, { url: gateway.url, env: { TOOLYARD_API_KEY: 'key-of-the-judge' } }).ended();
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(
          /^tenantId,at,agentId,tool,calls,failed,denied,approvals,waitMs,runMs,outputBytes,cpuMs,cpuCalls\r\nqueries,\S+T00:00:00.000Z,ann2,,\d,/,
        ),
      ]);
    });

    tenantUsageContract(() => ({ gateway, agent, stranger }));
  });

  describe('a test of a policy', () => {
    const judge = () => new Agent(gateway.url, 'key-of-the-judge');
    const test = async <T = PolicyTestResult>(config: object, sessionId = 'judged') =>
      (await judge().request<T>('POST', '/v1/policy:test', { config, filter: { sessionId } })).body;

    it('lists the recorded calls whose verdict would change, with the rule, and runs nothing', async () => {
      const echo = await submit('judged');
      const shell = (await agent.submit('shell', { command: 'make report' }, { sessionId: 'judged' })).body;
      const same = { tested: 2, changed: [], skipped: [] };
      expect(await test({})).toEqual(same);
      expect(await test({ policy: { exclude: ['shell'] } })).toEqual({
        ...same,
        changed: [
          {
            callId: shell.id,
            tool: 'shell',
            sessionId: 'judged',
            preview: expect.stringContaining('make report'),
            before: { effect: 'allow', reasons: [] },
            after: {
              effect: 'deny',
              reasons: [expect.objectContaining({ rule: 'availability', reason: expect.stringContaining('shell') })],
            },
          },
        ],
      });
      expect((await test({ policy: { gatePrivileged: true } })).changed).toMatchObject([{ callId: shell.id, after: { effect: 'ask' } }]);
      const forAnn = await test({ tenants: { queries: { agents: { ann: { tools: ['shell'] } } } } });
      expect(forAnn.changed).toMatchObject([{ callId: echo.id, agentId: 'ann', after: { effect: 'deny' } }]);
      expect(await count('sessionId=judged')).toEqual({ count: 2, exact: true });
      expect((await agent.get(`/v1/calls/${shell.id}`)).body).toMatchObject({ status: 'queued', decision: { effect: 'allow' } });
    });

    it('matches no costly expressions with long commands in a test of a policy', async () => {
      const { id } = (await agent.submit('shell', { command: `make ${'ab'.repeat(500)}` }, { sessionId: 'long' })).body;
      const costly = Array.from({ length: 10 }, (_, index) => `(?:.*[a-m]){230}.*N${index}`);
      for (const list of ['deniedCommands', 'allowedCommands'])
        expect(await test({ policy: { commands: { denyByDefault: true, [list]: costly } } }, 'long')).toEqual({
          tested: 0,
          changed: [],
          skipped: [{ callId: id, reason: `Command is too long for the patterns of ${list}` }],
        });
    });

    it('skips calls that a test of a policy has not evaluated within 5 s', async () => {
      const { id } = await submit('late');
      const { timeout } = AbortSignal;
      const spy = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => (ms === 5_000 ? AbortSignal.abort() : timeout(ms)));
      const result = await test({ policy: { exclude: ['echo'] } }, 'late');
      spy.mockRestore();
      expect(result).toEqual({
        tested: 0,
        changed: [],
        skipped: [{ callId: id, reason: 'not evaluated within 5 s: ask for fewer calls' }],
      });
      expect(await test({ policy: { exclude: ['echo'] } }, 'late')).toMatchObject({ tested: 1, changed: [{ callId: id }], skipped: [] });
    });

    it('refuses a test of a policy with the field that is wrong, counts no agents of other tenants, and needs the scope admin', async () => {
      const wrong = await test<Problem>({ policy: { exclude: 7 } });
      expect([wrong.code, wrong.errors?.[0]?.pointer]).toEqual(['invalid_request', '/config/policy/exclude']);
      expect((await test<Problem>({ policy: { commands: { nothing: 1 } } })).code).toBe('invalid_request');
      expect((await test<Problem>({ keys: [] })).code).toBe('invalid_request');
      expect((await test({ tenants: { stranger: { agents: { ann: { tools: ['shell'] } } } } })).changed).toEqual([]);
      expect((await agent.request<Problem>('POST', '/v1/policy:test', { config: {} })).body.code).toBe('forbidden');
      const other = await stranger.submit('echo', {}, { sessionId: 'judged' });
      expect(JSON.stringify(await test({ policy: { exclude: ['echo'] } }))).not.toContain(other.body.id);
    });

    it('reads a config file by the command line without sending its keys', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'toolyard-policy-'));
      const file = join(folder, 'toolyard.yaml');
      writeFileSync(file, 'keys:\n  - { id: x, key: a-key-that-stays-here, tenant: queries }\npolicy:\n  exclude: [shell]\n');
      const cli = (...words: string[]) => startCli(words, { url: gateway.url, env: { TOOLYARD_API_KEY: 'key-of-the-judge' } }).ended();
      const { code, out, err } = await cli('policy', 'test', file, '--session', 'judged', '--fail-on-change');
      expect([code, out, err]).toEqual([
        3,
        expect.stringMatching(/ {2}allow -> deny {2}shell {2}\{"command":"make report".*\n +grants\/availability: shell is excluded/),
        expect.stringContaining('2 calls evaluated, 1 verdicts would change.'),
      ]);
      expect(await cli('policy', 'test', join(folder, 'none'))).toMatchObject({ code: 2, err: expect.stringContaining('config file') });
      rmSync(folder, { recursive: true });
    });
  });
});
