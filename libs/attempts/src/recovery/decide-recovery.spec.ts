import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CallSnapshot } from '#event-log';
import { decideRecovery } from './decide-recovery.js';

const NOW = 1_000_000;
const head = (over: Partial<CallSnapshot>): CallSnapshot => ({
  callId: '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V',
  status: 'running',
  version: 2,
  attempt: 1,
  fence: 1,
  writeSeq: 0,
  failures: 0,
  cancelRequested: false,
  deadline: NOW + 10_000,
  totalDeadline: NOW + 60_000,
  leaseUntil: NOW + 5_000,
  submittedAt: NOW - 1_000,
  firstStartedAt: NOW - 900,
  lifecycleSeqs: [1, 2],
  lastSeq: 2,
  meta: { tenantId: 't', tool: 'x' },
  pool: 'read',
  queue: 'read',
  priority: 'normal',
  effect: 'pure',
  maxAttempts: 3,
  ...over,
});
const anyHead = fc
  .record({
    status: fc.constantFrom('waiting_approval', 'queued', 'waiting_input', 'running', 'ended') satisfies fc.Arbitrary<
      CallSnapshot['status']
    >,
    effect: fc.constantFrom('pure', 'idempotent', 'keyed', 'once') satisfies fc.Arbitrary<CallSnapshot['effect']>,
    cancelRequested: fc.boolean(),
    attempt: fc.nat(4),
    failures: fc.nat(4),
    deadline: fc.integer({ min: NOW - 9_000, max: NOW + 9_000 }),
    totalDeadline: fc.integer({ min: NOW - 9_000, max: NOW + 9_000 }),
    leaseUntil: fc.integer({ min: NOW - 9_000, max: NOW + 9_000 }),
  })
  .map(head);

describe('decideRecovery', () => {
  it('recovers no call that must not happen twice, was cancelled, or has no attempt left by another run', () => {
    fc.assert(
      fc.property(anyHead, fc.integer({ min: NOW - 9_000, max: NOW }), (given, dueAt) => {
        const verdict = decideRecovery(given, dueAt, NOW);
        if (verdict.kind !== 'retry') return;
        expect(given).toMatchObject({ status: 'running', cancelRequested: false });
        expect(given.effect).not.toBe('once');
        expect(given.failures + 1).toBeLessThan(given.maxAttempts);
        expect(given.leaseUntil).toBeLessThanOrEqual(NOW);
      }),
      { numRuns: 2_000 },
    );
  });

  it('leaves alone ended calls and a worker that holds its lease within its times', () => {
    expect(decideRecovery(head({}), NOW, NOW)).toEqual({ kind: 'none' });
    expect(decideRecovery(head({ status: 'ended' }), NOW, NOW)).toEqual({ kind: 'none' });
    expect(decideRecovery(head({ cancelRequested: true }), NOW - 1_000, NOW)).toEqual({ kind: 'none' });
    expect(decideRecovery(head({ deadline: NOW - 3_999 }), NOW, NOW)).toEqual({ kind: 'none' });
  });

  it('ends a running call according to the expired time', () => {
    const over = { leaseUntil: NOW };
    expect(decideRecovery(head(over), NOW, NOW)).toMatchObject({ kind: 'retry', reason: 'worker_lost' });
    expect(decideRecovery(head({ ...over, failures: 2 }), NOW, NOW)).toMatchObject({
      outcome: 'failed',
      failure: { code: 'worker_lost' },
      leaseExpired: true,
    });
    expect(decideRecovery(head({ ...over, effect: 'once' }), NOW, NOW)).toMatchObject({
      outcome: 'unknown',
      failure: { code: 'outcome_unknown' },
    });
    expect(decideRecovery(head({ cancelRequested: true }), NOW - 1_500, NOW)).toMatchObject({
      outcome: 'cancelled',
      stopped: { how: 'unknown' },
    });
    expect(decideRecovery(head({ deadline: NOW - 4_000 }), NOW, NOW)).toMatchObject({
      outcome: 'timed_out',
      failure: { code: 'run_timeout' },
      stopped: { how: 'unknown' },
    });
  });

  it('dispatches a waiting call again until its time is over', () => {
    const queued = { status: 'queued', attempt: 0 } as const;
    expect(decideRecovery(head(queued), NOW, NOW)).toEqual({
      kind: 'dispatch',
      pool: 'read',
      queue: 'read',
      attempt: 1,
      priority: 'normal',
    });
    expect(decideRecovery(head({ ...queued, deadline: NOW }), NOW, NOW)).toMatchObject({
      outcome: 'timed_out',
      failure: { code: 'queue_timeout' },
      stopped: { how: 'not_started' },
    });
    const whole = { ...queued, deadline: NOW, totalDeadline: NOW };
    expect(decideRecovery(head(whole), NOW, NOW)).toMatchObject({ outcome: 'timed_out', failure: { code: 'queue_timeout' } });
    expect(decideRecovery(head({ ...whole, attempt: 1 }), NOW, NOW)).toMatchObject({
      outcome: 'timed_out',
      failure: { code: 'run_timeout' },
    });
    expect(decideRecovery(head({ status: 'waiting_approval', attempt: 0, deadline: NOW }), NOW, NOW)).toMatchObject({
      outcome: 'denied',
      failure: { code: 'approval_expired' },
    });
  });
});
