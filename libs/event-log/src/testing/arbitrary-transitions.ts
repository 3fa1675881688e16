import fc from 'fast-check';
import type { HookRunData } from '#contracts';
import type { CallCommand } from '../specification/call-commands.js';
import type { Model } from '../specification/call-model.js';
import { decodeOptions, type CallState } from '../call/call-snapshot.js';
import type { CommandGuard, NewCall, ReconcilerGuard, WorkerGuard } from '../event-log.port.js';
import * as to from '../stream/to-transition.js';
import type { Transition } from '../stream/transition.js';
import { aSubmission, author, aTurn, endOf } from '../../../../test/support/sample-calls.js';

/** Ids of calls; the last is a child of the one before it. */
export const CALLS = ['00', '00', '01', '01', '01'].map((partition, index) => `${partition}-01JZ8C5W3Q4X9R7T2M6K8N0P${index}V`);

/** A transition in both languages. `read` makes the script's answer comparable with the decider's. */
export interface Step {
  readonly callId: string;
  readonly transition: Transition;
  readonly command: CallCommand;
  readonly key?: string;
}

export type Making = (callId: string, model: Model) => Step;

// Durations, short and long, so that some leases, deadlines and delays pass while the commands run.
const duration = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 6 }) }, { weight: 5, arbitrary: fc.constant(60_000) });
const fenceOff = fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-1, 1) });
const versionOff = fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-1, 1) });
const wseqOff = fc.oneof({ weight: 8, arbitrary: fc.constant(1) }, { weight: 2, arbitrary: fc.constantFrom(0, -1, 2) });
const commandId = fc.constantFrom('c1', 'c2', 'c3', 'c4', 'c5', 'c6');

type Offsets = { fence: number; writeSeq: number; version: number; commandId: string };
const offsets = fc.record({ fence: fenceOff, writeSeq: wseqOff, version: versionOff, commandId });

function worker(model: Model, callId: string, off: Offsets): WorkerGuard {
  const state = model.states.get(callId);
  return {
    by: 'worker',
    fence: Math.max(0, (state?.fence ?? 0) + off.fence),
    writeSeq: Math.max(0, (state?.writeSeq ?? 0) + off.writeSeq),
  };
}
function reconciler(model: Model, callId: string, off: Offsets): ReconcilerGuard {
  return { by: 'reconciler', fence: Math.max(0, (model.states.get(callId)?.fence ?? 0) + off.fence) };
}
function command(model: Model, callId: string, off: Offsets): CommandGuard {
  return { by: 'command', version: Math.max(0, (model.states.get(callId)?.version ?? 0) + off.version), commandId: off.commandId };
}

/** Prefers a call in a matching state: states that need several steps would otherwise occur too rarely. */
function likely(model: Model, callId: string, matches: (state: CallState) => boolean): string {
  return [...model.states.values()].find(matches)?.callId ?? callId;
}

const hookRun: HookRunData = { phase: 'started', hook: 'lint', event: 'before', run: 1, at: '2026-01-01T00:00:00.000Z', reason: 'é\n' };
const hooks = fc.constantFrom(0, 0, 0, 1, 2);
const runsOf = (count: number) => (count === 0 ? {} : { hookRuns: Array.from({ length: count }, () => hookRun) });

const accept = fc
  .record({
    hooks,
    queueMs: duration,
    runMs: duration,
    totalMs: duration,
    within: duration,
    maxAttempts: fc.integer({ min: 1, max: 3 }),
    effect: fc.constantFrom('pure' as const, 'pure' as const, 'once' as const),
    followUp: fc.constantFrom('queue' as const, 'queue' as const, 'queue' as const, 'approval' as const, 'refuse' as const),
    key: fc.option(fc.constantFrom('k1', 'k2'), { nil: undefined }),
    sha: fc.constantFrom('aa', 'bb'),
  })
  .map(({ queueMs, runMs, totalMs, within, maxAttempts, effect, followUp, key, sha, hooks }): Making => (callId) => {
    const submitted = aSubmission({ timeouts: { queueMs, runMs, totalMs }, retry: { maxAttempts, backoffMs: 1, maxBackoffMs: 1 }, effect });
    const call: NewCall = {
      callId,
      submitted,
      author,
      meta: {
        tenantId: 'acme',
        tool: 'echo',
        agentId: 'bob',
        ...(callId === CALLS.at(-1) ? { parentCallId: CALLS.at(-2) ?? '' } : {}),
      },
      ...runsOf(hooks),
      ...(key ? { idempotency: { scopedKey: key, requestSha256: sha } } : {}),
      ...(followUp === 'approval'
        ? { followUp: { kind: 'approval', data: { reasons: ['asked'], digest: 'dig', expiresInMs: within } } }
        : {}),
      ...(followUp === 'refuse' ? { followUp: { kind: 'refused', data: endOf('denied') } } : {}),
    };
    const transition = to.acceptTransition(call);
    const termsText = transition.args[6];
    const terms = decodeOptions(typeof termsText === 'string' ? termsText : '');
    const decided = followUp === 'approval' ? { approvalWithinMs: within } : followUp;
    return {
      callId,
      transition,
      ...(key ? { key } : {}),
      command: {
        kind: 'accept',
        callId,
        meta: call.meta,
        terms,
        totalMs,
        followUp: decided,
        hooks,
        ...(key ? { requestSha256: sha } : {}),
      },
    };
  });

const claim = fc
  .record({ off: fc.constantFrom(1, 1, 1, 1, 0, 2), leaseMs: duration, token: fc.constantFrom('t1', 't2', 't3') })
  .map(({ off, leaseMs, token }): Making => (callId, model) => {
    const attempt = (model.states.get(callId)?.attempt ?? 0) + off;
    return {
      callId,
      transition: to.claimTransition({ callId, attempt, leaseMs, worker: 'w1', author }, token),
      command: { kind: 'claim', attempt, leaseMs, token },
    };
  });

const stream = fc
  .record({
    kind: fc.constantFrom('update' as const, 'progress' as const, 'hook' as const, 'turn' as const),
    off: offsets,
    updates: fc.constantFrom('', `1 ${'a'.repeat(64)}`, `2 ${'b'.repeat(64)}`),
  })
  .map(({ kind, off, updates }): Making => (given, model) => {
    const callId = likely(model, given, ({ status }) => status === 'running');
    const guard = worker(model, callId, off);
    const input = { callId, guard, author };
    const transitions = {
      update: () => to.updateTransition({ ...input, data: { update: 1, content: [{ type: 'text', text: 'é "x"\n' }] }, updates }),
      progress: () => to.progressTransition({ ...input, data: { done: 1, total: 2 } }),
      hook: () => to.hookTransition({ ...input, data: hookRun }),
      turn: () => to.turnTransition({ ...input, data: aTurn }),
    };
    return { callId, transition: transitions[kind](), command: kind === 'update' ? { kind, guard, updates } : { kind, guard } };
  });

const hold = fc
  .record({ kind: fc.constantFrom('renew' as const, 'deferDispatch' as const), off: offsets, ms: duration })
  .map(({ kind, off, ms }): Making => (given, model) => {
    const callId = kind === 'renew' ? likely(model, given, ({ status }) => status === 'running') : given;
    const fence = reconciler(model, callId, off).fence;
    return kind === 'renew'
      ? { callId, transition: to.renewTransition({ callId, fence, leaseMs: ms }), command: { kind, fence, leaseMs: ms } }
      : { callId, transition: to.deferTransition({ callId, fence, delayMs: ms }), command: { kind, fence, delayMs: ms } };
  });

const retry = fc
  .record({ off: offsets, byWorker: fc.boolean(), next: fc.constantFrom(1, 1, 1, 1, 2), delayMs: duration, countsAsFailure: fc.boolean() })
  .map(({ off, byWorker, next, delayMs, countsAsFailure }): Making => (given, model) => {
    const callId = byWorker ? likely(model, given, ({ status }) => status === 'running') : given;
    const guard = byWorker ? worker(model, callId, off) : reconciler(model, callId, off);
    const nextAttempt = (model.states.get(callId)?.attempt ?? 0) + next;
    const data = { reason: countsAsFailure ? ('tool_failed' as const) : ('worker_drained' as const), nextAttempt, delayMs };
    return {
      callId,
      transition: to.retryTransition({ callId, guard, data, countsAsFailure, author }),
      command: { kind: 'retry', guard, nextAttempt, delayMs, countsAsFailure },
    };
  });

const suspend = fc
  .record({
    off: offsets,
    next: fc.constantFrom(1, 1, 1, 1, 2),
    delayMs: duration,
    until: fc.constantFrom('timer' as const, 'children' as const, 'children' as const, 'input' as const, 'input' as const),
    resumes: fc.boolean(),
  })
  .map(({ off, next, delayMs, until, resumes }): Making => (given, model) => {
    const callId = likely(model, given, ({ status }) => status === 'running');
    const guard = worker(model, callId, off);
    const nextAttempt = (model.states.get(callId)?.attempt ?? 0) + next;
    if (until === 'input') {
      const data = { nextAttempt, prompt: 'which? "é"', ...(resumes ? { resumeInMs: delayMs } : { expiresInMs: delayMs }) };
      return {
        callId,
        transition: to.requestInputTransition({ callId, guard, data, author }),
        command: { kind: 'requestInput', guard, ...data },
      };
    }
    const data = { reason: 'suspended' as const, nextAttempt, delayMs, ...(until === 'children' ? { until } : {}) };
    return {
      callId,
      transition: to.suspendTransition({ callId, guard, data, author }),
      command: { kind: 'suspend', guard, nextAttempt, delayMs, until },
    };
  });

const resume = fc.record({ off: offsets, wakes: fc.boolean() }).map(({ off, wakes }): Making => (given, model) => {
  const callId = likely(model, given, ({ status, suspension }) => (wakes ? suspension.includes(' c ') : status === 'waiting_input'));
  if (wakes) return { callId, transition: to.wakeTransition(callId), command: { kind: 'wake' } };
  const guard = command(model, callId, off);
  return {
    callId,
    transition: to.giveInputTransition({ callId, guard, data: { request: 1, value: 'é' }, author }),
    command: { kind: 'giveInput', guard },
  };
});

const end = fc
  .record({
    off: offsets,
    by: fc.constantFrom(worker, reconciler, command),
    outcome: fc.constantFrom('completed' as const, 'failed' as const, 'cancelled' as const),
    hooks,
  })
  .map(({ off, by, outcome, hooks }): Making => (callId, model) => {
    const guard = by(model, callId, off);
    const count = guard.by === 'command' ? hooks : 0;
    return {
      callId,
      transition: to.endTransition({ callId, guard, data: endOf(outcome), author, ...runsOf(count) }),
      command: { kind: 'end', guard, outcome, hooks: count },
    };
  });

const cancel = fc.record({ off: offsets, graceMs: duration }).map(({ off, graceMs }): Making => (callId, model) => {
  const guard = command(model, callId, off);
  return {
    callId,
    transition: to.cancelTransition({ callId, guard, data: { graceMs }, author }),
    command: { kind: 'requestCancel', guard, graceMs },
  };
});

const heldApproval = fc.record({ off: offsets, hooks }).map(({ off, hooks }): Making => (callId, model) => {
  const guard = command(model, callId, off);
  const { hookRuns = [] } = runsOf(hooks);
  return {
    callId,
    transition: to.heldTransition({ callId, guard, author, hookRuns }),
    command: { kind: 'holdApproval', guard, hooks },
  };
});

const approval = fc
  .record({
    off: offsets,
    decision: fc.constantFrom('allow' as const, 'deny' as const),
    digest: fc.constantFrom('dig', 'dig', 'dig', 'other'),
    edit: fc.constantFrom(undefined, undefined, 'edited-digest'),
    hooks,
  })
  .map(({ off, decision, digest, edit, hooks }): Making => (callId, model) => {
    const guard = command(model, callId, off);
    const editedDigest = decision === 'allow' ? edit : undefined;
    const edited = editedDigest === undefined ? undefined : { argumentsDigest: editedDigest, arguments: { n: 1 }, changes: [] };
    const data = { decision, digest, scope: 'once' as const, ...(edited && { edited }) };
    const input = { callId, guard, data, author, ...runsOf(hooks), ...(decision === 'deny' ? { end: endOf('denied') } : {}) };
    return {
      callId,
      transition: to.decideTransition(input),
      command: { kind: 'decideApproval', guard, decision, digest, editedDigest, hooks },
    };
  });

/** Last step that a run applied to its model, for `again`. */
export const lastSteps = new WeakMap<Model, Step>();
/** Repeats the last step byte for byte, as after a lost answer. */
const again = fc.constant<Making>(
  (callId, model) => lastSteps.get(model) ?? { callId, transition: to.wakeTransition(callId), command: { kind: 'wake' } },
);

/** Any transition of any call, weighted so that most are accepted. */
export const making = fc.oneof(
  { weight: 6, arbitrary: accept },
  { weight: 6, arbitrary: claim },
  { weight: 4, arbitrary: stream },
  { weight: 3, arbitrary: hold },
  { weight: 4, arbitrary: retry },
  { weight: 4, arbitrary: suspend },
  { weight: 4, arbitrary: resume },
  { weight: 2, arbitrary: end },
  { weight: 2, arbitrary: cancel },
  { weight: 2, arbitrary: heldApproval },
  { weight: 3, arbitrary: approval },
  { weight: 4, arbitrary: again },
);
