import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallPage, Problem, Schedule } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const SCOPES = ['submit' as const, 'read' as const];
const GITHUB = 'ghp_1q2w3e4r5t6y7u8i9o0p1q2w3e4r5t6y7u8i';

let tenant: Tenant;
let stranger: Tenant;
let agent: Agent;

beforeAll(async () => {
  tenant = await useTenant('schedules', { held: true, keys: { neighbour: { scopes: SCOPES }, colleague: { scopes: SCOPES } } });
  stranger = await useTenant('schedules-stranger');
  ({ agent } = tenant);
});
afterAll(async () => {
  await tenant?.close();
  await stranger?.close();
});

const as = (name: string) => tenant.agentOf(name, tenant.otherUrl);
const create = (body: object, by = agent) =>
  by.request<Schedule>('POST', '/v1/schedules', { call: { tool: 'echo', arguments: { n: 1 } }, ...body });
const made = async (body: object, by = agent) => {
  const { status, body: schedule } = await create(body, by);
  expect(status).toBe(201);
  return schedule;
};
const get = async (id: string) => (await agent.get<Schedule>(`/v1/schedules/${id}`)).body;
const remove = async (id: string) => expect((await agent.request('DELETE', `/v1/schedules/${id}`)).status).toBe(204);
const cancel = async (id = '') => expect((await agent.request('POST', `/v1/calls/${id}/cancel`, {})).status).toBe(202);
const callsOf = async (id: string) => (await agent.get<CallPage>(`/v1/calls?scheduleId=${id}`)).body.calls;
const soon = (ms: number) => new Date(Date.now() + ms).toISOString();
const untilRun = (id: string, condition: (schedule: Schedule) => boolean, what: string) =>
  eventually(async () => {
    const schedule = await get(id);
    return condition(schedule) ? schedule : undefined;
  }, what);

describe('a schedule', () => {
  it('submits one call for each due time of a schedule at any gateway, until it is paused [TB-110]', async () => {
    const { id, nextRuns, createdAt } = await made({ everyMs: 1_000, overlap: 'queue' });
    expect(nextRuns.map((time) => Date.parse(time) - Date.parse(createdAt))).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
    const calls = await eventually(async () => ((await callsOf(id)).length >= 3 ? callsOf(id) : undefined), 'three calls');
    const { body: paused } = await agent.request<Schedule>('POST', `/v1/schedules/${id}/pause`);
    expect(paused).toMatchObject({ nextRuns: [], paused: { reason: expect.stringContaining('Paused with the key') } });
    const events = await Promise.all(calls.map((call) => agent.events(call.id)));
    const due = events.map(([first]) => (first?.type === 'call.submitted' ? first.data.idempotencyKey : undefined));
    expect(new Set(due).size).toBe(calls.length);
    for (const { id: callId } of calls) expect((await agent.get(`/v1/calls/${callId}`)).body).toMatchObject({ scheduleId: id });
    expect(calls.map(({ scheduleId }) => scheduleId)).toEqual(calls.map(() => id));
    expect(events[0]?.[0]?.data).toMatchObject({ scheduleId: id, labels: {}, tool: 'echo' });

    const { body: resumed } = await agent.request<Schedule>('POST', `/v1/schedules/${id}/resume`);
    expect(resumed.paused).toBeUndefined();
    expect(resumed.nextRuns).toHaveLength(5);
    await remove(id);
    expect((await agent.get<Problem>(`/v1/schedules/${id}`)).body.code).toBe('resource_not_found');
  });

  it('runs a schedule of one moment once, ends it, and states why a call was refused', async () => {
    await agent.request('PUT', '/v1/sessions/closed', { grants: { deniedTools: ['echo'] } });
    const denied = await made({ at: soon(5_000), call: { tool: 'echo', arguments: {}, sessionId: 'closed' } });
    const { id } = await made({ at: soon(5_000), call: { tool: 'echo', arguments: { text: `password=${GITHUB}` } } });
    const over = await untilRun(id, ({ lastRun }) => lastRun !== undefined, 'the run');
    expect(over.nextRuns).toEqual([]);
    expect(await agent.ended(over.lastRun?.callId ?? '')).toMatchObject({ outcome: 'completed' });
    expect(JSON.stringify(over)).not.toContain(GITHUB);
    expect(await callsOf(id)).toHaveLength(1);
    await remove(id);
    const { lastRun } = await untilRun(denied.id, (schedule) => schedule.lastRun !== undefined, 'the refused run');
    expect(lastRun).toMatchObject({ callId: expect.any(String), error: { code: 'policy_denied' } });
    await remove(denied.id);
  });

  it('skips a run while the previous call is open, or cancels that call, by setting', async () => {
    const call = { tool: 'sleep', arguments: { duration_ms: 60_000 } };
    const skipping = await made({ everyMs: 1_000, call });
    const skipped = await untilRun(skipping.id, ({ lastRun }) => lastRun?.skipped === 'overlap', 'a run to be left out');
    expect(await callsOf(skipping.id)).toHaveLength(1);
    await remove(skipping.id);
    await cancel(skipped.lastRun?.callId);

    const cancelling = await made({ everyMs: 1_000, overlap: 'cancel', call });
    const first = await untilRun(cancelling.id, ({ lastRun }) => lastRun !== undefined, 'the first run');
    expect(await agent.ended(first.lastRun?.callId ?? '')).toMatchObject({ outcome: 'cancelled' });
    await remove(cancelling.id);
  });

  it('makes the run of a schedule wait until the call before has ended', async () => {
    const call = { tool: 'held', arguments: {} };
    const waiting = await made({ everyMs: 1_000, overlap: 'queue', call });
    const skipping = await made({ everyMs: 1_000, overlap: 'skip', call });
    const { lastRun: first } = await untilRun(waiting.id, ({ lastRun }) => lastRun !== undefined, 'the first run');
    // Waits until a due time of the other schedule has passed for more than a second.
    const isThird = ({ lastRun, createdAt }: Schedule) => Date.parse(lastRun?.dueAt ?? '') - Date.parse(createdAt) >= 3_000;
    const skipped = await untilRun(skipping.id, isThird, 'the third run of the other schedule to be left out');
    await remove(skipping.id);
    expect((await callsOf(waiting.id)).map(({ id }) => id)).toEqual([first?.callId]);
    await cancel(skipped.lastRun?.callId);

    await tenant.held.run(first?.callId ?? '');
    const { lastRun: second } = await untilRun(waiting.id, ({ lastRun }) => lastRun?.callId !== first?.callId, 'the run that waited');
    expect(second).not.toHaveProperty('skipped');
    expect(Date.parse(second?.dueAt ?? '') - Date.parse(first?.dueAt ?? '')).toBeGreaterThanOrEqual(1_000);
    expect(await callsOf(waiting.id)).toHaveLength(2);
    await remove(waiting.id);
    await cancel(second?.callId);
  });

  it('runs a schedule now on request', async () => {
    const { id } = await made({ cron: '0 7 * * 1-5', timeZone: 'Europe/Berlin', name: 'report' });
    const { status, body: call } = await agent.request('POST', `/v1/schedules/${id}/run`);
    expect([status, (await agent.ended(call.id)).outcome]).toEqual([202, 'completed']);
    expect((await get(id)).lastRun?.callId).toBe(call.id);
    await remove(id);
  });

  it('refuses a schedule that cannot be with a pointer', async () => {
    const wrong: [string, object][] = [
      ['/cron', { cron: 'every monday' }],
      ['/timeZone', { cron: '* * * * *', timeZone: 'Mars/Base' }],
      ['', {}],
      ['/everyMs', { everyMs: 10 }],
      ['/at', { at: '2001-01-01T00:00:00Z' }],
      ['/call/tool', { everyMs: 1_000, call: { tool: 'no_such_tool' } }],
      ['/call/arguments/duration_ms', { everyMs: 1_000, call: { tool: 'sleep', arguments: { duration_ms: 'long' } } }],
      ['/overlap', { everyMs: 1_000, overlap: 'never' }],
    ];
    for (const [pointer, body] of wrong) {
      const answer = await create(body);
      const { code, errors } = answer.body as unknown as Problem;
      expect([answer.status, code, errors?.[0]?.pointer]).toEqual([422, 'invalid_request', pointer]);
    }
  });

  it('previews a schedule with its next due times, without making it', async () => {
    const before = (await agent.get<{ schedules: Schedule[] }>('/v1/schedules')).body.schedules.length;
    const preview = (body: object) => agent.request<{ nextRuns: string[] } & Problem>('POST', '/v1/schedules:preview', body);
    const { status, body } = await preview({ cron: '30 6 1 1 *', timeZone: 'Europe/Berlin' });
    expect([status, body.nextRuns.length, body.nextRuns[0]]).toEqual([200, 5, expect.stringMatching(/-01-01T05:30:00\.000Z$/)]);
    const refused = await preview({ cron: '30 25 * * *' });
    expect([refused.status, refused.body.errors?.[0]?.pointer]).toEqual([422, '/cron']);
    expect((await agent.get<{ schedules: Schedule[] }>('/v1/schedules')).body.schedules).toHaveLength(before);
  });

  it('hides a schedule from another tenant, and allows changes only to its key or an admin', async () => {
    const { id } = await made({ cron: '0 0 1 1 *' }, as('colleague'));
    expect((await stranger.agent.get(`/v1/schedules/${id}`)).status).toBe(404);
    expect((await stranger.agent.get<{ schedules: Schedule[] }>('/v1/schedules')).body.schedules).toEqual([]);
    for (const what of ['pause', 'resume', 'run'])
      expect((await as('neighbour').request('POST', `/v1/schedules/${id}/${what}`)).status).toBe(403);
    expect((await as('neighbour').request('DELETE', `/v1/schedules/${id}`)).status).toBe(403);
    expect((await as('neighbour').get<Schedule>(`/v1/schedules/${id}`)).body.keyId).toBe(tenant.keyId('colleague'));
    await remove(id);
  });

  it('pauses a schedule with the reason when its key is gone', async () => {
    const { body: leaver } = await agent.request<{ id: string; key: string }>('POST', '/v1/keys', { name: 'leaver', scopes: SCOPES });
    const { id } = await made({ everyMs: 1_000 }, new Agent(tenant.otherUrl, leaver.key));
    await untilRun(id, ({ lastRun }) => lastRun !== undefined, 'a run');
    expect((await agent.request('DELETE', `/v1/keys/${leaver.id}`)).status).toBeLessThan(300);
    const { paused, nextRuns } = await untilRun(id, (schedule) => schedule.paused !== undefined, 'the pause');
    expect(paused?.reason).toContain(`The key ${leaver.id}`);
    expect(nextRuns).toEqual([]);
    await remove(id);
  });
});

describe('toolyard schedules', () => {
  const cli = (...words: string[]) => tenant.cli(words).ended();

  it('adds, lists, pauses, resumes, runs and removes a schedule, and lists its calls', async () => {
    const added = await cli('schedules', 'add', 'echo', 'n:=7', '--cron', '0 7 * * 1', '--time-zone', 'Europe/Berlin', '--name', 'weekly');
    const id = added.out.trim();
    expect([added.code, id]).toEqual([0, expect.stringMatching(/^sch-/)]);
    expect(added.err).toContain('Runs next at 2');
    expect((await cli('schedules')).out).toMatch(new RegExp(`${id} +echo +0 7 \\* \\* 1 Europe/Berlin +in [0-9dhms]+ +weekly`));
    expect((await cli('schedules', 'pause', id)).err).toContain('is paused');
    expect((await cli('schedules', 'list')).out).toMatch(new RegExp(`${id} .*paused: Paused with the key`));
    expect((await cli('schedules', 'resume', id)).err).toContain('is resumed');
    const callId = (await cli('schedules', 'run', id)).out.trim();
    await agent.ended(callId);
    const listed = await eventually(async () => {
      const { out } = await cli('calls', '--schedule', id);
      return out.includes(callId) ? out : undefined;
    }, 'the call in the list');
    expect(listed.trim().split('\n')).toHaveLength(1);
    expect((await cli('show', callId)).out).toMatch(new RegExp(`schedule +${id}`));
    expect(JSON.parse((await cli('--json', 'schedules')).out)).toMatchObject({ id, name: 'weekly', lastRun: { callId } });
    expect((await cli('schedules', 'remove', id)).code).toBe(0);
    expect((await cli('schedules')).err).toContain('There are no schedules.');
  });

  it('explains in toolyard schedules faults of a time, a duration and an id', async () => {
    const wrong = await cli('schedules', 'add', 'echo', '--cron', 'every monday');
    expect([wrong.code === 0, wrong.err]).toEqual([false, expect.stringContaining('cron')]);
    expect((await cli('schedules', 'add', 'echo', '--every', 'soon')).code).not.toBe(0);
    expect((await cli('schedules', 'run', 'sch-00000000-0000-0000-0000-000000000000')).code).not.toBe(0);
    expect((await cli('calls', '--schedule', 'nothing')).err).toContain('expected the id of a schedule');
  });
});
