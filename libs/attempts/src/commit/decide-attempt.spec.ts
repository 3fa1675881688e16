import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CALL_ERROR_CODES } from '#contracts';
import { decideAttempt, type AttemptFacts } from './decide-attempt.js';
import type { RunResult } from './attempt-result.js';

const facts = (over: Partial<AttemptFacts>): AttemptFacts => ({
  run: { kind: 'output', output: 'x' },
  effect: 'pure',
  failures: 0,
  retry: { maxAttempts: 3, backoffMs: 100, maxBackoffMs: 1_000 },
  maxAttempts: 20,
  maxBackoffMs: 600_000,
  leftMs: 60_000,
  runLimitMs: 1_000,
  ...over,
});
const failed = (retryable: boolean, killed = false): RunResult => ({
  kind: 'failure',
  failure: { code: 'unavailable', message: 'm', retryable, killed },
});
const decide = (over: Partial<AttemptFacts>) => decideAttempt(facts(over), () => 0.5);

const anyRun = fc.oneof(
  fc.constant<RunResult>({ kind: 'output', output: 'x' }),
  fc.constant<RunResult>({ kind: 'suspended', request: { until: 'timer', resumeInMs: 5 } }),
  fc
    .record({ code: fc.constantFrom(...CALL_ERROR_CODES), retryable: fc.boolean() })
    .map((of): RunResult => ({ kind: 'failure', failure: { ...of, message: 'm' } })),
);
const anyStopped = fc.oneof(anyRun, fc.constant<RunResult>({ kind: 'unresponsive' }), fc.constant<RunResult>({ kind: 'not_started' }));
const anyFacts = fc
  .record({
    effect: fc.constantFrom('pure', 'idempotent', 'keyed', 'once') satisfies fc.Arbitrary<AttemptFacts['effect']>,
    failures: fc.nat(5),
    leftMs: fc.integer({ min: -10, max: 100 }),
    run: anyRun,
  })
  .chain((base) =>
    fc.oneof(
      fc.constant(facts(base)),
      fc
        .record({
          run: anyStopped,
          reason: fc.constantFrom('run_timeout', 'cancelled', 'drained', 'lease_lost') satisfies fc.Arbitrary<
            NonNullable<AttemptFacts['aborted']>['reason']
          >,
        })
        .map(({ run, reason }) => facts({ ...base, run, aborted: { reason, tookMs: 1 } })),
    ),
  );

describe('decideAttempt', () => {
  it('waits for the delay that the failure asks for, within the remaining time and the longest pause', () => {
    const after = (retryAfterMs: number, over: Partial<AttemptFacts> = {}) =>
      decide({ run: { kind: 'failure', failure: { code: 'tool_failed', message: 'm', retryable: true, retryAfterMs } }, ...over });
    expect(after(7_000)).toMatchObject({ kind: 'retry', delayMs: 7_000 });
    expect(after(1)).toMatchObject({ kind: 'retry', delayMs: 50 });
    expect(after(60_000)).toMatchObject({ kind: 'end' });
    expect(after(7_000, { maxBackoffMs: 6_999 })).toMatchObject({ kind: 'end' });
    expect(after(7_000, { effect: 'once' })).toMatchObject({ kind: 'end' });
  });

  it('runs no effect again that must not happen twice after its tool began, and never beyond the attempts', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const finish = decideAttempt(given, () => 0.5);
        if (finish.kind !== 'retry') return;
        if (given.effect === 'once') expect(given.run.kind).toBe('not_started');
        if (finish.countsAsFailure) expect(given.failures + 1).toBeLessThan(given.retry.maxAttempts);
        if (finish.countsAsFailure) expect(finish.delayMs).toBeLessThan(given.leftMs);
      }),
      { numRuns: 1_000 },
    );
  });

  it('writes nothing of an attempt exactly if the lease is lost', () => {
    fc.assert(
      fc.property(anyFacts, (given) =>
        expect(decideAttempt(given, () => 0.5).kind === 'nothing').toBe(given.aborted?.reason === 'lease_lost'),
      ),
    );
  });

  it('states a reason in every End of an uncompleted attempt', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const finish = decideAttempt(given, () => 0.5);
        if (finish.kind === 'end') expect(finish.failure === undefined).toBe(finish.outcome === 'completed');
      }),
    );
  });

  it('keeps the result of a tool that finished before a cancel took effect [EX-23]', () => {
    expect(decide({ aborted: { reason: 'cancelled', tookMs: 3 } })).toEqual({
      kind: 'end',
      outcome: 'completed',
      stopped: { how: 'finished_first', tookMs: 3 },
    });
  });

  it('states how a cancel stopped the tool', () => {
    const how = (run: RunResult) => decide({ run, aborted: { reason: 'cancelled', tookMs: 3 } });
    const stopped = (more: object = {}): RunResult => ({
      kind: 'failure',
      failure: { code: 'cancelled', message: 'm', retryable: false, ...more },
    });
    expect(how(stopped())).toMatchObject({ outcome: 'cancelled', stopped: { how: 'stopped' } });
    expect(how(stopped({ mayHaveFinished: true }))).toMatchObject({ outcome: 'cancelled', stopped: { how: 'unknown' } });
    expect(how(failed(false))).toMatchObject({ outcome: 'cancelled', stopped: { how: 'unknown' } });
    expect(how(failed(false, true))).toMatchObject({ outcome: 'cancelled', stopped: { how: 'killed' } });
    expect(how({ kind: 'unresponsive' })).toMatchObject({ outcome: 'cancelled', stopped: { how: 'unknown' } });
    expect(how({ kind: 'not_started' })).toMatchObject({ outcome: 'cancelled', stopped: { how: 'not_started' } });
  });

  it('hands calls back on a drain, and ends those with an uncertain effect as unknown', () => {
    const aborted = { reason: 'drained', tookMs: 1 } as const;
    expect(decide({ run: failed(false), aborted })).toEqual({
      kind: 'retry',
      reason: 'worker_drained',
      delayMs: 0,
      countsAsFailure: false,
    });
    expect(decide({ run: failed(false), aborted, effect: 'once' })).toMatchObject({
      kind: 'end',
      outcome: 'unknown',
      failure: { code: 'outcome_unknown' },
    });
    expect(decide({ run: { kind: 'not_started' }, aborted, effect: 'once' })).toMatchObject({
      kind: 'retry',
      reason: 'worker_drained',
    });
    expect(decide({ aborted, effect: 'once' })).toEqual({ kind: 'end', outcome: 'completed' });
  });
});
