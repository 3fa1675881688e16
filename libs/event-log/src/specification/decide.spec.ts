import { describe, expect, it } from '@jest/globals';
import type { CallCommand } from './call-commands.js';
import { decide } from './decide.js';
import { decodeSnapshot, encodeSnapshot, type CallState, type CallOptions } from '../call/call-snapshot.js';
import { DEADLINE_SLACK_MS, DISPATCH_SAFETY_MS } from '../call/timing.js';

const T0 = 1_000_000;
const terms: CallOptions = {
  queueMs: 10_000,
  runMs: 5_000,
  maxAttempts: 3,
  effect: 'pure',
  pool: 'read',
  priority: 'normal',
  startPayloadRange: [1, 2],
  digest: 'dig',
};
const callId = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';

function accepted(
  changes: Partial<CallOptions> = {},
  totalMs = 60_000,
  followUp: Extract<CallCommand, { kind: 'accept' }>['followUp'] = 'queue',
): CallState {
  return after(
    undefined,
    { kind: 'accept', callId, meta: { tenantId: 'acme', tool: 'echo' }, terms: { ...terms, ...changes }, totalMs, followUp },
    T0,
  );
}
function after(state: CallState | undefined, command: CallCommand, now: number): CallState {
  const decision = decide(state, command, { now, seq: state?.lastSeq ?? 0 });
  if (decision.code !== 'OK' || !('state' in decision)) throw new Error(`${command.kind} was answered ${decision.code}`);
  return decision.state;
}
const answer = (state: CallState | undefined, command: CallCommand, now: number) =>
  decide(state, command, { now, seq: state?.lastSeq ?? 0 });
const claim = (attempt = 1, leaseMs = 3_000): CallCommand => ({ kind: 'claim', attempt, leaseMs, token: `t${attempt}` });
const byWorker = (fence: number, writeSeq: number) => ({ by: 'worker', fence, writeSeq }) as const;
const byReconciler = (fence: number) => ({ by: 'reconciler', fence }) as const;
const retry = (
  guard: ReturnType<typeof byWorker> | ReturnType<typeof byReconciler>,
  delayMs = 0,
  countsAsFailure = true,
  nextAttempt = 2,
): CallCommand => ({
  kind: 'retry',
  guard,
  nextAttempt,
  delayMs,
  countsAsFailure,
});

describe('a call', () => {
  it('leaves no wake-up to a call that is woken while it runs and again while it waits', () => {
    const suspend: CallCommand = { kind: 'suspend', guard: byWorker(1, 1), nextAttempt: 2, delayMs: 1_000, until: 'children' };
    const again = after(after(after(accepted(), claim(), T0), suspend, T0), claim(2), T0 + 1_000);
    const waiting = after(after(again, { kind: 'wake' }, T0 + 1_000), retry(byWorker(2, 1), 1_000, false, 3), T0 + 1_000);
    expect(after(waiting, { kind: 'wake' }, T0 + 1_000).suspension).toMatch(/^0 w /);
  });

  it('looks at an accepted call after the fast path had its time, or when its queue wait is over', () => {
    expect(accepted()).toMatchObject({ status: 'queued', version: 1, timer: T0 + DISPATCH_SAFETY_MS, deadline: T0 + 10_000 });
    expect(accepted({ queueMs: 500 }).timer).toBe(T0 + 500);
    expect(accepted({}, 700).deadline).toBe(T0 + 700);
  });

  it('gives a rejected call its End and no timer', () => {
    expect(accepted({}, 60_000, 'refuse')).toMatchObject({ status: 'ended', version: 2, timer: 0, lifecycleSeqs: [1, 2] });
  });

  it('keeps a call waiting for a person until the approval expires', () => {
    const waiting = accepted({}, 60_000, { approvalWithinMs: 30_000 });
    expect(waiting).toMatchObject({ status: 'waiting_approval', timer: T0 + 30_000 });
    const decision = (digest: string): CallCommand => ({
      kind: 'decideApproval',
      guard: { by: 'command', version: 2, commandId: 'c' },
      decision: 'allow',
      digest,
    });
    expect(after(waiting, decision('dig'), T0 + 5_000)).toMatchObject({
      status: 'queued',
      deadline: T0 + 15_000,
      timer: T0 + 5_000 + DISPATCH_SAFETY_MS,
    });
    expect(answer(waiting, decision('of another call'), T0)).toEqual({ code: 'CONFLICT', version: 2 });
    expect(answer(waiting, decision('dig'), T0 + 30_000)).toEqual({ code: 'BAD_TRANSITION', status: 'waiting_approval' });
  });

  it('limits a run to the smaller of its run limit and the remaining total', () => {
    expect(after(accepted(), claim(), T0 + 1_000)).toMatchObject({
      status: 'running',
      attempt: 1,
      fence: 1,
      deadline: T0 + 6_000,
      leaseUntil: T0 + 4_000,
      timer: T0 + 4_000,
    });
    expect(after(accepted({}, 3_000), claim(), T0 + 1_000).deadline).toBe(T0 + 3_000);
  });

  it('refuses a Start that is late, early, repeated or out of order', () => {
    expect(answer(accepted(), claim(), T0 + 10_000)).toEqual({ code: 'BAD_TRANSITION', status: 'queued' });
    expect(answer(accepted(), claim(2), T0)).toEqual({ code: 'CONFLICT', version: 1 });
    const running = after(accepted(), claim(), T0);
    expect(answer(running, { ...claim(), token: 'another' } as CallCommand, T0)).toEqual({ code: 'BAD_TRANSITION', status: 'running' });
    expect(answer(running, claim(), T0)).toEqual({ code: 'REPLAY', version: 2, seq: 2, time: T0 });
    const delayed = after(running, retry(byWorker(1, 1), 2_000), T0);
    expect(answer(delayed, claim(2), T0 + 500)).toEqual({ code: 'NOT_DUE', retryInMs: 1_500 });
    expect(after(delayed, claim(2), T0 + 2_000)).toMatchObject({ attempt: 2, fence: 2, failures: 1 });
  });

  it('leaves a call to its worker past the deadline for the time of a stop, for any number of renewals', () => {
    const renewed = after(after(accepted(), claim(), T0), { kind: 'renew', fence: 1, leaseMs: 60_000 }, T0);
    expect(renewed.timer).toBe(T0 + 5_000 + DEADLINE_SLACK_MS);
    // The reconciler may end the call then, but not give it to another worker: this one still holds the lease.
    const due = renewed.timer;
    expect(answer(renewed, retry(byReconciler(1)), due)).toEqual({ code: 'NOT_DUE', retryInMs: renewed.leaseUntil - due });
    expect(after(renewed, { kind: 'end', guard: byReconciler(1), outcome: 'timed_out' }, due)).toMatchObject({ status: 'ended', fence: 2 });
  });

  it('checks a cancelled call when the grace is over, for any number of renewals', () => {
    const running = after(accepted(), claim(), T0);
    const cancelling = after(running, { kind: 'requestCancel', guard: { by: 'command', version: 2, commandId: 'c' }, graceMs: 1_000 }, T0);
    const renewed = after(cancelling, { kind: 'renew', fence: 1, leaseMs: 60_000 }, T0);
    expect(renewed).toMatchObject({ cancelRequested: true, timer: T0 + 1_000 });
    expect(answer(renewed, retry(byWorker(1, 1)), T0)).toEqual({ code: 'BAD_TRANSITION', status: 'running' });
    expect(after(renewed, { kind: 'end', guard: byReconciler(1), outcome: 'cancelled' }, T0 + 1_000).status).toBe('ended');
  });

  it('denies a call to a worker whose lease expired', () => {
    const running = after(accepted(), claim(), T0);
    expect(answer(running, retry(byReconciler(1)), T0 + 2_999)).toEqual({ code: 'NOT_DUE', retryInMs: 1 });
    const queued = after(running, retry(byReconciler(1)), T0 + 3_000);
    expect(queued).toMatchObject({ status: 'queued', fence: 2, failures: 1 });
    expect(answer(queued, { kind: 'end', guard: byWorker(1, 1), outcome: 'completed' }, T0 + 3_000)).toEqual({ code: 'FENCED', fence: 2 });
  });

  it('accepts End from a late worker if no other worker has claimed the call', () => {
    expect(after(after(accepted(), claim(), T0), { kind: 'end', guard: byWorker(1, 1), outcome: 'completed' }, T0 + 50_000)).toMatchObject({
      status: 'ended',
      timer: 0,
    });
  });

  it('retries a call only within its attempts, and never one with an effect that must not repeat', () => {
    const once = after(accepted({ effect: 'once' }), claim(), T0);
    expect(answer(once, retry(byWorker(1, 1)), T0)).toEqual({ code: 'BAD_TRANSITION', status: 'running' });
    expect(answer(once, retry(byReconciler(1), 0, false), T0 + 3_000)).toEqual({ code: 'BAD_TRANSITION', status: 'running' });
    expect(after(once, retry(byWorker(1, 1), 0, false), T0)).toMatchObject({ status: 'queued', failures: 0 });
    expect(answer(after(accepted({ maxAttempts: 1 }), claim(), T0), retry(byWorker(1, 1)), T0)).toEqual({
      code: 'BAD_TRANSITION',
      status: 'running',
    });
  });

  it('completes a call only while it runs, and ends it by a caller only while it does not', () => {
    const command = { by: 'command', version: 1, commandId: 'c' } as const;
    expect(answer(accepted(), { kind: 'end', guard: command, outcome: 'completed' }, T0)).toEqual({
      code: 'BAD_TRANSITION',
      status: 'queued',
    });
    expect(after(accepted(), { kind: 'end', guard: command, outcome: 'cancelled' }, T0).status).toBe('ended');
    expect(answer(after(accepted(), claim(), T0), { kind: 'end', guard: { ...command, version: 2 }, outcome: 'cancelled' }, T0)).toEqual({
      code: 'BAD_TRANSITION',
      status: 'running',
    });
  });

  it('accepts a later write of a worker after a lost one', () => {
    const running = after(accepted(), claim(), T0);
    expect(after(running, { kind: 'update', guard: byWorker(1, 4), updates: '1 ab' }, T0)).toMatchObject({
      writeSeq: 4,
      version: 3,
      lifecycleSeqs: [1, 2],
    });
  });

  it('finds no unknown call', () => {
    expect(answer(undefined, claim(), T0)).toEqual({ code: 'NOT_FOUND' });
  });

  it('packs the state of a call and unpacks it unchanged', () => {
    const packed = after(after(accepted(), claim(), T0), { kind: 'update', guard: byWorker(1, 1), updates: '1 ab' }, T0);
    const whole = { ...packed, meta: { tenantId: 'acme', tool: 'grüße', agentId: 'bob', sessionId: 's', traceparent: '00-x' } };
    expect(decodeSnapshot(callId, encodeSnapshot(whole))).toEqual(whole);
    const uncounted = { ...whole, updates: '' };
    expect(decodeSnapshot(callId, encodeSnapshot(uncounted))).toEqual(uncounted);
  });
});
