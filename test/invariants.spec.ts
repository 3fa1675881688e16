import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { CallEvent, ServerFrame } from '#contracts';
import { approvalDigest } from '#policy';
import { aSubmission } from './support/sample-calls.js';
import { checkArchive } from './support/invariants/check-archive.js';
import { checkCall, checkUpdates } from './support/invariants/check-call.js';
import { checkOpenBytes } from './support/invariants/check-open-bytes.js';
import { checkTenants } from './support/invariants/check-tenants.js';
import { ClientHistories } from './support/invariants/client-histories.js';

const CALL = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
const T0 = Date.parse('2026-01-01T00:00:00Z');
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

type EventFacts = { type: CallEvent['type']; data?: object; at?: number; attempt?: number; fence?: number; actor?: string };
function events(facts: readonly EventFacts[], subject = CALL, tenantid = 'acme'): CallEvent[] {
  return facts.map(
    ({ type, data = {}, at = 0, attempt = 0, fence = 0, actor = 'apikey:a' }, index) =>
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
        actor,
        data,
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the checks look at
      }) as unknown as CallEvent,
  );
}

const submitted = (changes: Parameters<typeof aSubmission>[0] = {}): EventFacts => ({
  type: 'call.submitted',
  data: aSubmission({ argumentsDigest: DIGEST, ...changes }),
});
const start = (attempt = 1, fence = attempt, data = {}): EventFacts => ({ type: 'call.start', attempt, fence, data });
const update: EventFacts = { type: 'call.update', attempt: 1, fence: 1, data: { content: [] } };
const retry = (reason: string, attempt = 1): EventFacts => ({ type: 'call.retry', attempt, data: { reason } });
const end = (more: Partial<EventFacts> = {}): EventFacts => ({
  type: 'call.end',
  data: { outcome: 'completed', updates: { count: 0, sha256: EMPTY } },
  ...more,
});
/** Digest of the arguments of `aSubmission`. */
const DIGEST = approvalDigest('echo', '1', aSubmission().arguments);
const asked: EventFacts = { type: 'call.approval_requested', data: { digest: DIGEST } };
const decided = (decision: string, digest = DIGEST): EventFacts => ({ type: 'call.approval_decided', data: { decision, digest } });
const by = (actor: string, facts: EventFacts): EventFacts => ({ ...facts, actor });
const cancel: EventFacts = { type: 'call.cancel_requested', attempt: 1, data: { graceMs: 1_000 } };

const found = (facts: readonly EventFacts[], awayMs = 0) => {
  const list = events(facts);
  return [...checkCall(CALL, list, { atRest: true, awayMs: () => awayMs, byApps: true }), ...checkUpdates(CALL, list, true)].map(
    (line) => line.split(' ')[0],
  );
};

describe('the checker of invariants', () => {
  it('finds no fault in a correct log', () => {
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
    ['I7', [submitted({ effect: 'once' }), start(), update, retry('worker_drained'), start(2), end({ attempt: 2, fence: 2 })]],
    ['I7', [submitted({ effect: 'once' }), start(), end({ attempt: 1, data: { outcome: 'failed', error: { code: 'worker_lost' } } })]],
    ['I11', [submitted({ decision: { effect: 'ask', reasons: [] } }), start(), end({ attempt: 1, fence: 1 })]],
    ['I11', [submitted(), asked, decided('allow', 'other'), start(), end({ attempt: 1, fence: 1 })]],
    ['I15', [submitted(), start(), cancel, end({ attempt: 1, fence: 1, at: 6_001 })]],
    ['updates', [submitted(), start(), update, end({ attempt: 1, fence: 1 })]],
  ])('finds a breach of the invariant %s', (invariant, facts) => {
    expect(found(facts)).toContain(invariant);
  });

  it('finds uncounted bytes of an open call beside the log, and bytes of an ended call', () => {
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

  describe('of a call that a person was asked about', () => {
    const args = (text: string) => ({ text });
    const digestOf = (text: string) => approvalDigest('echo', '1', args(text));
    const submission = (text = 'a', digest = digestOf('a'), more = {}) =>
      submitted({ arguments: args(text), argumentsDigest: digest, toolVersion: '1', ...more });
    const question: EventFacts = { type: 'call.approval_requested', data: { digest: digestOf('a') } };
    const yes = by('apikey:b', decided('allow', digestOf('a')));
    const edit = (text: string, more = {}) => {
      const edited = { argumentsDigest: digestOf('b'), arguments: args(text), ...more };
      return by('apikey:b', { type: 'call.approval_decided', data: { decision: 'allow', digest: digestOf('a'), edited } });
    };
    const ran = (data: object) => start(1, 1, { tool: 'echo', ...data });
    const done = end({ attempt: 1, fence: 1 });
    const breaches = (facts: readonly EventFacts[]) =>
      checkCall(CALL, events(facts), { byApps: true, fourEyes: (tenant) => tenant === 'acme' });

    it.each<[string, EventFacts[]]>([
      ['the arguments that were allowed', [submission(), question, yes, ran({ arguments: args('a') }), done]],
      ['large arguments, which are not in the log', [submission(), question, yes, ran({}), done]],
      ['secret arguments', [submission('[REDACTED]', digestOf('a'), { argumentsRedacted: true }), question, yes, ran({}), done]],
      ['edited arguments', [submission(), question, edit('b'), ran({}), done]],
    ])('finds nothing wrong in the log where a call ran with %s', (_what, facts) => {
      expect(breaches(facts)).toEqual([]);
    });

    it.each<[string, RegExp, EventFacts[]]>([
      ['executed', /digest of the executed arguments/, [submission(), question, yes, ran({ arguments: args('x') }), done]],
      ['submitted', /digest of the submitted arguments/, [submission('x'), question, yes, ran({}), done]],
      ['edited', /digest of the edited arguments/, [submission(), question, edit('x'), ran({}), done]],
      [
        'no longer edited',
        /started with the submitted arguments/,
        [submission(), question, edit('b'), ran({ arguments: args('a') }), done],
      ],
      ['asked about', /asked about digest .*, submitted were/, [submission('x', digestOf('x')), question, yes, ran({}), done]],
    ])('finds in the log that other arguments than the allowed ones were %s', (_what, message, facts) => {
      expect(breaches(facts)).toEqual([expect.stringMatching(message)]);
    });

    it('finds in the log an approval by the submitter of the call or of one that it replays, under four eyes', () => {
      const own = (actor: string, data = {}) =>
        breaches([submission('a', digestOf('a'), data), question, by(actor, yes), ran({}), done]).map((line) =>
          line.split(' ').slice(2).join(' '),
        );
      const breach = (actor: string) => [`${actor} allowed a call of its own, where four eyes are asked for`];
      expect(own('apikey:a')).toEqual(breach('apikey:a'));
      expect(own('apikey:b', { requesters: ['apikey:b'] })).toEqual(breach('apikey:b'));
      expect(own('apikey:b', { requesters: ['apikey:c'] })).toEqual([]);
      expect(checkCall(CALL, events([submission(), question, by('apikey:a', yes), start(), done]), { fourEyes: () => false })).toEqual([]);
    });
  });

  it('finds a call of two tenants, and one that names a call of another tenant', () => {
    const other = '07-01JZ8C5W3Q4X9R7T2M6K8N0P2V';
    const [first, second] = events([submitted(), end()]);
    if (!first || !second) throw new Error('two events');
    const find = (calls: Record<string, CallEvent[]>) =>
      checkTenants(new Map(Object.entries(calls))).map((line) => line.split(' ').slice(0, 2).join(' '));
    const theirs = events([submitted()], other, 'else');
    for (const field of ['parentCallId', 'rootCallId', 'replayOf', 'startedBy'] as const) {
      const naming = events([submitted({ [field]: other })]);
      expect(find({ [CALL]: naming, [other]: theirs })).toEqual([`I12 ${CALL}:`]);
      expect(find({ [CALL]: naming, [other]: events([submitted()], other) })).toEqual([]);
    }
    expect(find({ [CALL]: [first, { ...second, tenantid: 'else' }] })).toEqual([`I12 ${CALL}:`]);
  });

  it('excludes the time in which no app could end calls', () => {
    const late = [submitted(), start(), cancel, end({ attempt: 1, fence: 1, at: 6_001 })];
    expect([found(late), found(late, 1)]).toEqual([['I15'], []]);
  });

  it('finds client events that differ from the log, in order, tenant or existence', () => {
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

  it('finds an uncovered or unknown file in an archive, and no fault in an archive without segments', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolyard-invariants-'));
    expect(await checkArchive(`file://${folder}`)).toEqual([]);
    mkdirSync(join(folder, 'segments'));
    writeFileSync(join(folder, 'segments', 'odd'), 'x');
    expect(await checkArchive(`file://${folder}`)).toEqual(['I14 segments/odd: is not the name of a segment']);
    rmSync(folder, { recursive: true });
  });

  it('finds a key that received calls of two tenants', () => {
    const other = '07-01JZ8C5W3Q4X9R7T2M6K8N0P2V';
    const calls = new Map([CALL, other].map((id, n) => [id, events([submitted()], id, n === 0 ? 'acme' : 'else')]));
    const histories = new ClientHistories();
    for (const [callId, key] of [
      [CALL, 'k'],
      [other, 'another'],
      [other, 'k'],
    ] as const)
      histories.answered({ key, callId, sessionId: undefined, idempotencyKey: undefined });
    expect(histories.check({ calls, events: new Map(), violations: [] })).toEqual([`I12 ${other}: of else, got with a key of acme`]);
  });
});
