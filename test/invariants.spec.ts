import { describe, expect, it } from '@jest/globals';
import type { CallEvent, ServerFrame } from '#contracts';
import { aSubmission } from '../sample-calls.js';
import { checkCall, checkUpdates } from './check-call.js';
import { checkOpenBytes } from './check-open-bytes.js';
import { ClientHistories } from './client-histories.js';

const CALL = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
const T0 = Date.parse('2026-01-01T00:00:00Z');
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

type EventFacts = { type: CallEvent['type']; data?: object; at?: number; attempt?: number; fence?: number };
function events(facts: readonly EventFacts[], subject = CALL, tenantid = 'acme'): CallEvent[] {
  return facts.map(
    ({ type, data = {}, at = 0, attempt = 0, fence = 0 }, index) =>
      ({
        id: `1.7.${index + 1}`,
        type,
        subject,
        tenantid,
        tool: 'echo',
        time: new Date(T0 + at).toISOString(),
        callver: index + 1,
        attempt,
        fence,
        data,
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the checks look at
      }) as unknown as CallEvent,
  );
}

const submitted = (changes: Parameters<typeof aSubmission>[0] = {}): EventFacts => ({ type: 'call.submitted', data: aSubmission(changes) });
const start = (attempt = 1, fence = attempt): EventFacts => ({ type: 'call.start', attempt, fence });
const retry = (reason: string, attempt = 1): EventFacts => ({ type: 'call.retry', attempt, data: { reason } });
const end = (more: Partial<EventFacts> = {}): EventFacts => ({
  type: 'call.end',
  data: { outcome: 'completed', updates: { count: 0, sha256: EMPTY } },
  ...more,
});
const asked: EventFacts = { type: 'call.approval_requested', data: { digest: 'd' } };
const decided = (decision: string, digest = 'd'): EventFacts => ({ type: 'call.approval_decided', data: { decision, digest } });
const cancel: EventFacts = { type: 'call.cancel_requested', attempt: 1, data: { graceMs: 1_000 } };

const found = (facts: readonly EventFacts[], awayMs = 0) => {
  const list = events(facts);
  return [...checkCall(CALL, list, { atRest: true, awayMs: () => awayMs }), ...checkUpdates(CALL, list, true)].map(
    (line) => line.split(' ')[0],
  );
};

describe('the checker of invariants', () => {
  it('finds nothing wrong in a right log', () => {
    expect(found([submitted(), start(), end({ attempt: 1, fence: 1 })])).toEqual([]);
    expect(
      found([submitted(), asked, decided('allow'), start(), retry('worker_lost'), start(2, 3), end({ attempt: 2, fence: 3 })]),
    ).toEqual([]);
    expect(found([submitted({ effect: 'once' }), start(), retry('worker_drained'), start(2), end({ attempt: 2, fence: 2 })])).toEqual([]);
  });

  it.each<[string, EventFacts[]]>([
    ['I2', [submitted(), start()]],
    ['I2', [submitted(), end(), end()]],
    ['I3', [submitted({ timeouts: { queueMs: 1, runMs: 1, totalMs: 1_000 } }), end({ at: 6_001 })]],
    ['I4', [submitted(), { type: 'call.update', data: { content: [] } }, end()]],
    ['I5', [submitted(), start(2), end({ attempt: 2, fence: 2 })]],
    ['I5', [submitted(), start(), end({ attempt: 1, fence: 2 })]],
    ['I6', [submitted(), start(1, 5), end({ attempt: 1, fence: 4 })]],
    ['I7', [submitted({ effect: 'once' }), start(), retry('worker_lost'), start(2), end({ attempt: 2, fence: 2 })]],
    ['I11', [submitted({ decision: { effect: 'ask', reasons: [] } }), start(), end({ attempt: 1, fence: 1 })]],
    ['I11', [submitted(), asked, decided('allow', 'other'), start(), end({ attempt: 1, fence: 1 })]],
    ['I15', [submitted(), start(), cancel, end({ attempt: 1, fence: 1, at: 6_001 })]],
    [
      'updates',
      [submitted(), start(), { type: 'call.update', attempt: 1, fence: 1, data: { content: [] } }, end({ attempt: 1, fence: 1 })],
    ],
  ])('finds a breach of the invariant %s', (invariant, facts) => {
    expect(found(facts)).toContain(invariant);
  });

  it('finds bytes that an open call keeps beside the log and is not counted with, and bytes of a call that has ended', () => {
    const beside = (bytes: number) => ({ ref: 'suspension.1', sha256: '', bytes });
    const asks: EventFacts = { type: 'call.input_requested', data: { nextAttempt: 2, state: beside(10) } };
    const given: EventFacts = { type: 'call.input_given', data: { request: 1, stored: beside(5) } };
    const large = submitted({ argumentsRef: { ref: 'arguments', sha256: '', bytes: 100, preview: '' } });
    const check = (openBytes: number, stateBytes: number, ...facts: EventFacts[]) =>
      checkOpenBytes(CALL, { openBytes, stateBytes }, events(facts)).length;
    expect([check(115, 15, large, start(), asks, given), check(115, 10, large, start(), asks, given)]).toEqual([0, 1]);
    expect([check(114, 15, large, start(), asks, given), check(0, 0, large, start(), asks, given)]).toEqual([1, 0]);
    expect(check(110, 10, large, start(), asks, given, start(2), { ...asks, attempt: 2 })).toBe(0);
    expect([check(0, 0, large, end()), check(1, 0, large, end())]).toEqual([0, 1]);
  });

  it('leaves out the time in which no app could end calls', () => {
    const late = [submitted(), start(), cancel, end({ attempt: 1, fence: 1, at: 6_001 })];
    expect([found(late), found(late, 1)]).toEqual([['I15'], []]);
  });

  it('finds what clients got and the log does not have, in another order, of another tenant, or not at all', () => {
    const list = events([submitted(), start(), end({ attempt: 1, fence: 1 })]);
    const log = { calls: new Map([[CALL, list]]), events: new Map(list.map((event, n) => [`7.${n + 1}`, event])), violations: [] };
    const [first, second, third] = list;
    if (!first || !second || !third) throw new Error('three events');
    const socket = (...got: CallEvent[]) => {
      const histories = new ClientHistories();
      const frames = got.map((event) => ({ frame: { op: 'event', id: 's', event, cursor: '' } satisfies ServerFrame }));
      histories.socket({ sent: [{ op: 'subscribe', id: 's', filter: {} }], frames });
      return histories.check(log).map((line) => line.split(' ')[0]);
    };
    expect(socket(first, second, third)).toEqual([]);
    expect(socket(second, first)).toEqual(['I10']);
    expect(socket(first, third)).toEqual(['I10']);
    expect(socket(first, { ...second, tool: 'shell' })).toEqual(['I10']);
    expect(socket(first, { ...second, id: '1.8.2' })).toEqual(['I10']);
    expect(socket(first, { ...second, tenantid: 'other' })).toEqual(['I10', 'I12', 'I10'].slice(0, 2));

    const histories = new ClientHistories();
    const answered = (callId: string) => histories.answered({ key: 'k', callId, sessionId: undefined, idempotencyKey: 'once' });
    answered(CALL);
    answered('07-01JZ8C5W3Q4X9R7T2M6K8N0P2V');
    expect(histories.check(log).map((line) => line.split(' ')[0])).toEqual(['I1', 'I8']);
  });
});
