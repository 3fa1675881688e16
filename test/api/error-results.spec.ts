import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, CallCount, CallEvent, CallPage, FailurePage, SessionPage, Stats, ToolStatsPage } from '#contracts';
import { ToolyardClient } from '#client';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { serveWeb, type WebServer } from '../support/serve-web.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

let tenant: Tenant;
let agent: Agent;
let client: ToolyardClient;
let api: WebServer;

beforeAll(async () => {
  api = await serveWeb(async () => Response.json({ error: { message: 'no such pet' } }, { status: 404 }));
  tenant = await useTenant('error-results');
  agent = tenant.agent;
  client = new ToolyardClient({ baseUrl: tenant.url, apiKey: tenant.keyOf('main') });
});
afterAll(async () => {
  api.close();
  await tenant.close();
});

const shell = (command: string, sessionId: string): Promise<Call> => client.calls.run({ tool: 'shell', arguments: { command }, sessionId });
const list = async (query: string) => (await agent.get<CallPage>(`/v1/calls?${query}`)).body.calls;
const cli = (...words: string[]) => tenant.cli(words).ended();

describe('a call whose tool answers with an error', () => {
  it('keeps the outcome of a call with an error result, and notes the failure beside it', async () => {
    const failing = await shell('echo "no such script" >&2; exit 3', 'said');
    const fine = await shell('true', 'said');
    expect(failing).toMatchObject({ outcome: 'completed', ok: false, isError: true, note: 'exit 3 · no such script' });
    expect(fine).toMatchObject({ outcome: 'completed', ok: true, isError: false });
    expect(fine).not.toHaveProperty('note');
    const { body } = await agent.get<{ events: CallEvent[] }>(`/v1/calls/${failing.id}/events`);
    expect(body.events.at(-1)).toMatchObject({
      type: 'call.end',
      data: { outcome: 'completed', isError: true, note: 'exit 3 · no such script' },
    });
  });

  it.each([
    ['stderr, whatever stdout says', 'echo fine; echo "no: such" >&2; echo ---; exit 2', 'exit 2 · no: such'],
    ['stdout, where stderr says nothing', 'echo "FAILED test_y"; exit 1', 'exit 1 · FAILED test_y'],
    [
      'what comes before a stack',
      String.raw`printf 'Error: boom\n    at f (a.js:1:2)\n\nNode.js v20.1.0\n' >&2; exit 1`,
      'exit 1 · Error: boom',
    ],
    ['a line that was written over', String.raw`printf '10 %%\r20 %%\rno space left\n' >&2; exit 1`, 'exit 1 · no space left'],
    ['without colours', String.raw`printf '\033[31mred\033[0m\n' >&2; exit 1`, 'exit 1 · red'],
    ['without secrets', `echo 'bad key gh''p_${'a1B2'.repeat(9)}' >&2; exit 1`, 'exit 1 · bad key [REDACTED]'],
    ['nothing, where nothing was said', 'exit 1', 'exit 1'],
    ['the end of a long output', 'seq 1 400000 >&2; echo "missing semicolon" >&2; exit 2', 'exit 2 · missing semicolon'],
  ])('notes the last words of a failed command at its call: %s', async (_, command, note) => {
    expect(await shell(command, 'words')).toMatchObject({ isError: true, note });
  });

  it('notes an error result that is too large for its End', async () => {
    const large = await shell('head -c 9000 /dev/zero | tr "\\0" x; exit 4', 'large');
    const note = `exit 4 · ${'x'.repeat(190)}…`;
    expect(large).toMatchObject({ outcome: 'completed', ok: false, isError: true, note });
    expect((await list('sessionId=large'))[0]).toMatchObject({ ok: false, isError: true, note });
  });

  it('shows a refused call as an error with its reason and without a note', async () => {
    const { body: call } = await agent.submit('no_such_tool', {}, { sessionId: 'refused' });
    expect(call).toMatchObject({ code: 'not_found' });
    const [refused] = await list('sessionId=refused');
    expect(refused).toMatchObject({ outcome: 'failed', ok: false, isError: true, error: { code: 'not_found' } });
    expect(refused).not.toHaveProperty('note');
  });

  it('shows no result of a call as an error before its End', async () => {
    const { body: call } = await agent.submit('sleep', { ms: 60_000 }, { sessionId: 'open' });
    expect(call).not.toHaveProperty('ok');
    const [open] = await list('sessionId=open');
    expect(open).not.toHaveProperty('ok');
    expect(open).not.toHaveProperty('isError');
    await client.calls.cancel(call.id);
    await client.calls.wait(call.id);
    expect((await list('sessionId=open'))[0]).toMatchObject({ outcome: 'cancelled', ok: false, isError: true });
  });

  it('filters calls by error result, also together with an outcome', async () => {
    const failing = await shell('exit 1', 'found');
    const fine = await shell('true', 'found');
    const { body: missing } = await agent.submit('file_read', { path: 'missing.txt' }, { sessionId: 'found' });
    await client.calls.wait(missing.id);
    const found = async (query: string) => (await list(`sessionId=found&${query}`)).map(({ id }) => id);
    const counted = async (query: string) => (await agent.get<CallCount>(`/v1/calls:count?sessionId=found&${query}`)).body;
    // First as the log tells them, then as the projection has them.
    for (const projected of [false, true]) {
      if (projected)
        await eventually(
          async () => (await sessionsOf('found'))?.running === 0 && (await sessionsOf('found'))?.calls === 3,
          'the session to be projected',
        );
      expect(await found('result=error')).toEqual([missing.id, failing.id]);
      expect(await found('result=error&outcome=completed')).toEqual([failing.id]);
      expect(await found('result=ok')).toEqual([fine.id]);
      expect(await found('result=ok,error')).toEqual([missing.id, fine.id, failing.id]);
      expect(await counted('result=error')).toEqual({ count: 2, exact: true });
      expect(await counted('result=ok')).toEqual({ count: 1, exact: true });
    }
    const wrong = await agent.get<{ code: string; errors: unknown }>('/v1/calls?result=green');
    expect(wrong.body).toMatchObject({ code: 'invalid_request', errors: [{ pointer: '/result' }] });
  });

  it('counts an error result as failed in the numbers of time, tool, session and failure group', async () => {
    const before = { stats: await totals(), tool: await toolOf('shell') };
    const said = (n: number) => `printf '\\033[31merror: missing semicolon at line ${n}\\033[0m\\n' >&2`;
    const first = await shell(`${said(1)}; exit 41`, 'counted');
    const second = await shell(`${said(22)}; exit 3`, 'counted');
    const other = await shell('exit 42', 'counted');
    await shell('true', 'counted');
    const session = await eventually(async () => {
      const found = await sessionsOf('counted');
      return found?.running === 0 && found.calls === 4 ? found : undefined;
    }, 'the session to be projected');
    expect(session.failed).toBe(3);
    const after = { stats: await totals(), tool: await toolOf('shell') };
    expect(after.stats.failed - before.stats.failed).toBe(3);
    expect(after.stats.errors - before.stats.errors).toBe(3);
    expect(after.stats.completed - before.stats.completed).toBe(4);
    expect(after.tool.failed - before.tool.failed).toBe(3);
    expect(after.tool.errorRate).toBeCloseTo(after.tool.failed / after.tool.calls);
    const { failures } = (await agent.get<FailurePage>('/v1/failures')).body;
    const group = failures.find(({ message }) => message === 'exit 3 · error: missing semicolon at line 22');
    expect(group).toMatchObject({
      tool: 'shell',
      count: 2,
      lastCallId: second.id,
      preview: expect.stringContaining('at line 22'),
    });
    expect(group).not.toHaveProperty('code');
    expect((await list(`fingerprint=${group?.fingerprint ?? ''}`)).map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(failures.find(({ message }) => message === 'exit 42')).toMatchObject({ count: 1, lastCallId: other.id });
    expect((await cli('failures')).out).toMatch(/^2x +shell +exit 3 · error: missing semicolon /m);
  });

  it('notes the error of an outside source without the mark of its content in lists, failures and the command line', async () => {
    const call = await client.calls.run({ tool: 'http_request', arguments: { url: `${api.url}/pets/7` }, sessionId: 'outside' });
    expect(call).toMatchObject({ isError: true, note: '404: no such pet', result: { provenance: { trust: 'untrusted' } } });
    expect((await list('sessionId=outside'))[0]).toMatchObject({ note: '404: no such pet' });
    const group = await eventually(
      async () => (await agent.get<FailurePage>('/v1/failures')).body.failures.find(({ tool }) => tool === 'http_request'),
      'the failure to be projected',
    );
    expect(group.message).toBe('404: no such pet');
    expect((await cli('failures')).out).toMatch(/^1x +http_request +404: no such pet /m);
    expect((await cli('calls', '--session', 'outside')).out).toContain('404: no such pet');
  });

  it('shows an error result as an error in the lists of the command line', async () => {
    const watching = tenant.cli(['watch', '--session', 'failing']);
    await watching.says('live');
    const failing = await shell('echo no such thing; exit 7', 'failing');
    await watching.says('error (exit 7 · no such thing)');
    watching.child.kill('SIGINT');
    await watching.ended();
    expect(watching.out()).not.toContain('completed');
    const { out } = await cli('calls', '--session', 'failing');
    expect(out).toMatch(new RegExp(`^${failing.id}\\s+error\\s+shell .*✗ exit 7 · no such thing`));
    expect((await cli('calls', '--session', 'failing', '--result', 'error')).out).toContain(failing.id);
    expect((await cli('calls', '--session', 'failing', '--result', 'ok')).err).toContain('No calls match');
    expect((await cli('show', failing.id)).out).toMatch(/^status\s+ended: completed, with an error result \(exit 7 · no such thing\)$/m);
  });
});

async function sessionsOf(sessionId: string) {
  const { body } = await agent.get<SessionPage>('/v1/sessions');
  return body.sessions.find((session) => session.sessionId === sessionId);
}

async function totals() {
  const series = await eventually(async () => {
    const { body } = await agent.get<Stats>('/v1/stats');
    return body.behind === undefined ? body.series : undefined;
  }, 'the rows of all calls');
  const sum = (read: (point: Stats['series'][number]) => number) => series.reduce((all, point) => all + read(point), 0);
  return {
    failed: sum(({ failed }) => failed),
    errors: sum(({ errors }) => errors),
    completed: sum(({ outcomes }) => outcomes.completed ?? 0),
  };
}

async function toolOf(name: string) {
  const { body } = await agent.get<ToolStatsPage>('/v1/stats/tools');
  return body.tools.find(({ tool }) => tool === name) ?? { failed: 0, calls: 0, errorRate: 0 };
}
