import { describe, expect, it } from '@jest/globals';
import { dataSchemaOf, type CallEvent, type CallEventData, type CallEventType } from '#contracts';
import { aSubmission, endOf } from '../../../../test/support/sample-calls.js';
import { foldCall } from './fold-call.js';

let seq = 0;
function event<T extends CallEventType>(type: T, data: CallEventData<T>, attempt = 0): CallEvent {
  seq += 1;
  const text = JSON.stringify({
    specversion: '1.0',
    id: `1.7.${seq}`,
    source: '/test',
    type,
    subject: '07-A',
    time: new Date(seq * 1000).toISOString(),
    datacontenttype: 'application/json',
    dataschema: dataSchemaOf(type),
    tenantid: 'acme',
    tool: 'echo',
    callver: seq,
    attempt,
    fence: 0,
    actor: 'test',
    data,
  });
  const made: CallEvent = JSON.parse(text);
  return made;
}
const fold = (...make: (() => CallEvent)[]) => {
  seq = 0;
  return foldCall(make.map((one) => one()));
};
const submitted = () => event('call.submitted', aSubmission());
const start = () => event('call.start', { tool: 'echo', worker: 'w' }, 1);
const retry = (data: Omit<CallEventData<'call.retry'>, 'nextAttempt'>) => () => event('call.retry', { nextAttempt: 2, ...data }, 1);

describe('the fold of a call', () => {
  it('explains why a call waits', () => {
    expect(fold(submitted).waiting).toEqual({ reason: 'queued', detail: 'Waits for a free worker of pool read.' });
    const asked = () => event('call.approval_requested', { reasons: ['writes files'], digest: 'd', expiresInMs: 60_000 });
    expect(fold(submitted, asked)).toMatchObject({
      status: 'waiting_approval',
      waiting: { reason: 'approval', detail: expect.stringContaining('writes files'), until: '1970-01-01T00:01:02.000Z' },
    });
    const failed = retry({ reason: 'tool_failed', delayMs: 500, error: { code: 'tool_failed', message: 'no rule', retryable: true } });
    expect(fold(submitted, start, failed).waiting).toMatchObject({
      reason: 'retry_backoff',
      detail: expect.stringContaining('no rule'),
      until: '1970-01-01T00:00:03.500Z',
    });
    expect(fold(submitted, start, retry({ reason: 'suspended', delayMs: 60_000 })).waiting).toMatchObject({
      reason: 'suspended',
      until: '1970-01-01T00:01:03.000Z',
    });
    expect(fold(submitted, start, retry({ reason: 'worker_drained', delayMs: 0 })).waiting?.reason).toBe('worker_drained');
  });

  it('reports no waiting reason for running and ended calls', () => {
    expect(fold(submitted, start)).not.toHaveProperty('waiting');
    const ended = fold(submitted, start, () => event('call.end', endOf('completed'), 1));
    expect(ended).toMatchObject({
      status: 'ended',
      outcome: 'completed',
      startedAt: '1970-01-01T00:00:02.000Z',
      endedAt: '1970-01-01T00:00:03.000Z',
    });
    expect(ended).not.toHaveProperty('waiting');
  });

  it('keeps the time of the first Start and the number of the last attempt', () => {
    const again = () => event('call.start', { tool: 'echo', worker: 'w2' }, 2);
    expect(fold(submitted, start, retry({ reason: 'worker_lost', delayMs: 0 }), again)).toMatchObject({
      attempt: 2,
      startedAt: '1970-01-01T00:00:02.000Z',
      status: 'running',
    });
  });

  it('shows values of a call beside the log when they are given, and their preview when not', () => {
    seq = 0;
    const ref = { ref: 'arguments', sha256: 'x', bytes: 9_000, preview: '{"text":"lo' } as const;
    const { arguments: _inline, ...rest } = aSubmission();
    const end = endOf('completed');
    const events = [
      event('call.submitted', { ...rest, argumentsRef: ref }),
      event('call.end', { outcome: end.outcome, attempts: 1, resultRef: { ...ref, ref: 'result' } }),
    ];
    expect(foldCall(events)).toMatchObject({
      arguments: ref.preview,
      result: { content: [{ text: ref.preview }], truncated: { originalBytes: 9_000 } },
    });
    const result = { content: [], isError: false };
    expect(foldCall(events, { arguments: { text: 'long' }, result })).toMatchObject({ arguments: { text: 'long' }, result });
  });

  it('refuses to fold a call from its middle', () => {
    expect(() => fold(start)).toThrow('expected call.submitted');
  });
});
