import { beforeAll, describe, expect, it } from '@jest/globals';
import { CallFilter, type CallEvent } from '#contracts';
import { CallView, KEPT_EVENTS } from './call/call-view.js';
import { TERMINAL_LIMITS } from './call/log/terminal-text.js';
import { CallTable } from './calls/call-table.js';
import { LiveStats } from './stream/live-stats.js';
import { KEPT_ACTIVE } from './stream/current-counts.js';
import { Series } from './stream/series.js';

const BEGIN = Date.parse('2026-01-01T00:00:00.000Z');
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Replaces the frames of a browser. */
beforeAll(() => void (globalThis.requestAnimationFrame ??= () => 0));

function callId(n: number, at: number): string {
  let stamp = '';
  for (let rest = at, place = 0; place < 10; place += 1, rest = Math.floor(rest / 32)) stamp = (CROCKFORD[rest % 32] ?? '') + stamp;
  return `07-${stamp}${String(n).padStart(16, '0')}`;
}

function event(type: CallEvent['type'], subject: string, at: number, data: object, callver: number, attempt = 0): CallEvent {
  return {
    specversion: '1.0',
    id: `1.7.${at}${callver}`,
    source: '/test',
    type,
    subject,
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    dataschema: 'test',
    tenantid: 'acme',
    agentid: 'coder',
    tool: 'echo',
    callver,
    attempt,
    fence: attempt,
    actor: 'test',
    data,
  } as unknown as CallEvent;
}

const SUBMISSION = { tool: 'echo', pool: 'read', priority: 'normal', labels: {}, decision: { effect: 'allow', reasons: [] } };

function life(n: number, ends = true): CallEvent[] {
  const at = BEGIN + n * 10;
  const id = callId(n, at);
  return [
    event('call.submitted', id, at, { ...SUBMISSION, arguments: { n } }, 1),
    event('call.start', id, at + 5, { tool: 'echo', worker: 'w' }, 2, 1),
    ...(ends ? [event('call.end', id, at + 9, { outcome: n % 10 === 0 ? 'failed' : 'completed', attempts: 1, runMs: 4 }, 3, 1)] : []),
  ];
}

describe('a call that completes with an error result', () => {
  it('counts a call with an error result as failing on the live page, in its own row', () => {
    const board = new LiveStats();
    const series = new Series(1000, 3);
    board.show(series);
    const end = (n: number, data: object) => event('call.end', callId(n, BEGIN), BEGIN + n, { attempts: 1, runMs: 4, ...data }, 3, 1);
    board.fold([
      end(1, { outcome: 'completed', isError: true, note: 'exit 1' }),
      end(2, { outcome: 'completed', isError: false }),
      end(3, { outcome: 'failed', isError: true }),
      end(4, { outcome: 'cancelled', isError: true }),
    ]);
    const [point] = series.points(BEGIN + 1000).filter(({ ended }) => ended > 0);
    expect(point).toMatchObject({ ended: 4, failed: 2, errors: 1 });
    const [, , growing] = series.points(BEGIN + 500);
    expect(growing?.ends).toEqual({ ended: 4, failed: 2, denied: 0 });
  });
});

describe('an hour of calls', () => {
  it('keeps the newest rows of an hour of calls up to the limit, and active calls rather than ended ones', () => {
    const table = new CallTable(CallFilter.parse({}), 500);
    const underWay = life(0, false)[0]!.subject;
    table.events(life(0, false));
    for (let n = 1; n <= 20_000; n += 1) table.events(life(n));
    expect(table.size).toBeLessThanOrEqual(550);
    const ids = table.list().map(({ id }) => id);
    expect(ids[0]).toBe(life(20_000)[0]!.subject);
    expect(ids).toContain(underWay);
  });

  it('keeps statistics of an hour of calls of constant size, and counts correctly', () => {
    const board = new LiveStats();
    const series = new Series(2000, 300);
    board.show(series);
    for (let n = 0; n < 20_000; n += 1) board.fold(life(n));
    expect(board.now.counts()).toEqual({ running: 0, queued: 0, suspended: 0, waitingApproval: 0, waitingInput: 0 });
    expect(board.now.remembered).toBe(0);
    const points = series.points(BEGIN + 20_000 * 10);
    expect(points).toHaveLength(300);
    expect(points.at(-2)).toMatchObject({ submitted: 100, ended: 100, failed: 10, run: { p50: 4 } });
    for (let n = 0; n < KEPT_ACTIVE + 1000; n += 1) board.fold(life(20_000 + n, false));
    expect(board.now.remembered).toBe(KEPT_ACTIVE);
    expect(board.now.counts().running).toBe(KEPT_ACTIVE + 1000);
  });

  it('keeps the end of an endless output, and ignores repeated events', () => {
    const view = new CallView();
    const id = callId(1, BEGIN);
    const update = (n: number) =>
      event('call.update', id, BEGIN, { update: n, content: [{ type: 'text', text: `line ${n}\n` }] }, n + 2, 1);
    for (const each of life(1, false)) view.take(each);
    for (let n = 1; n <= 20_000; n += 1) view.take(update(n));
    for (const n of [1, 300, 20_000]) view.take(update(n));
    expect(view.events.length).toBeLessThanOrEqual(KEPT_EVENTS);
    expect(view.attempts[0]!.updates).toBe(20_000);
    expect(view.attempts[0]!.text).toHaveLength(TERMINAL_LIMITS.lines);
    expect(view.attempts[0]!.text.text()).toMatch(/line 20000$/);
    expect(view.lifecycle.map(({ type }) => type)).toEqual(['call.submitted', 'call.start']);
  });
});
