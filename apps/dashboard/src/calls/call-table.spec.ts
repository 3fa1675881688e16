import { beforeAll, describe, expect, it } from '@jest/globals';
import { CallEvent, CallFilter, CallSummary } from '#contracts';
import { aSubmission } from '../../../../test/support/sample-calls.js';
import { shownState } from './call-row.js';
import { CallTable } from './call-table.js';

const ID = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
const AT = '2026-01-01T00:00:00.000Z';
const failure = { code: 'tool_failed', message: 'HTTP 503', retryable: true };
const again = (reason: string, nextAttempt: number) => ({ reason, nextAttempt, delayMs: 1_000, error: failure });

/** The steps of a call: the event, its attempt and its data, then what a list says after it. */
const STEPS = [
  ['call.submitted', 0, aSubmission(), { status: 'queued', attempt: 0 }],
  ['call.start', 1, { tool: 'echo', worker: 'w' }, { status: 'running', attempt: 1 }],
  ['call.retry', 1, again('tool_failed', 2), { status: 'queued', attempt: 1, retrying: true }],
  ['call.start', 2, { tool: 'echo', worker: 'w' }, { status: 'running', attempt: 2 }],
  ['call.retry', 2, again('suspended', 3), { status: 'queued', attempt: 2, suspended: true }],
  ['call.start', 3, { tool: 'echo', worker: 'w' }, { status: 'running', attempt: 3 }],
  ['call.input_requested', 3, { requestedAt: AT }, { status: 'waiting_input', attempt: 3 }],
  ['call.input_given', 3, { by: 'person' }, { status: 'queued', attempt: 3, suspended: true }],
  ['call.start', 4, { tool: 'echo', worker: 'w' }, { status: 'running', attempt: 4 }],
  ['call.end', 4, { outcome: 'completed', attempts: 4 }, { status: 'ended', outcome: 'completed', attempt: 4 }],
] as const;

const events = STEPS.map(
  ([type, attempt, data], index) =>
    ({ id: `1.7.${index + 1}`, type, subject: ID, time: AT, tool: 'echo', callver: index + 1, attempt, data }) as unknown as CallEvent,
);
const listed = (after: number) =>
  ({
    id: ID,
    tool: 'echo',
    pool: 'read',
    priority: 'normal',
    submittedAt: AT,
    labels: {},
    preview: '',
    retrying: false,
    ...STEPS[after]?.[3],
  }) as CallSummary;

/** Replaces the frames of a browser. */
beforeAll(() => void (globalThis.requestAnimationFrame ??= () => 0));

const stateAfter = (seen: number, answered?: number) => {
  const table = new CallTable(CallFilter.parse({}));
  table.events(events.slice(0, seen + 1));
  if (answered !== undefined) table.answer([listed(answered)]);
  return table.list().map(shownState);
};

describe('the calls of a list', () => {
  it.each(STEPS.map(([type, attempt], seen) => [type, attempt, seen] as const))(
    'keeps %s of attempt %i in the list when an older answer arrives, and takes over a newer one',
    (_type, _attempt, seen) => {
      const states = STEPS.map((_step, answered) => stateAfter(seen, answered));
      expect(states).toEqual(STEPS.map((_step, answered) => stateAfter(Math.max(seen, answered))));
    },
  );

  it('keeps the mark of a requested cancel, which list answers lack, until the call has ended', () => {
    const table = new CallTable(CallFilter.parse({}));
    const cancel = { ...events[1], type: 'call.cancel_requested', callver: 3, data: { graceMs: 0 } } as unknown as CallEvent;
    table.events([...events.slice(0, 2), cancel]);
    table.answer([listed(1)]);
    expect(table.list().map(shownState)).toEqual(['cancelling']);
    table.answer([listed(9)]);
    expect(table.list().map(shownState)).toEqual(['completed']);
  });
});
