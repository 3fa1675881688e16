import { changesCall } from '#contracts';
import type { CallState } from './call-snapshot.js';
import type { CallFact } from './call.commands.js';
import { countedUpdates, NO_UPDATES } from './updates-digest.js';

/** A call just accepted is dispatched at once; its timer is the safety net for when that fails. */
export const DISPATCH_SAFETY_MS = 2_000;

/** How long a worker may take past a deadline to stop the tool and write End itself, before the reconciler does. */
export const DEADLINE_SLACK_MS = 4_000;

type FactOf<T extends CallFact['type']> = Extract<CallFact, { type: T }>;

/**
 * The head after one more event: the fold that the head is a cache of. Total over legal histories; which events are
 * legal is `decide`'s business. What no event tells (lease renewals, `wseq`, claim tokens) is left as it is.
 */
export function evolve(head: CallState | undefined, fact: CallFact): CallState {
  if (fact.type === 'call.submitted') return submitted(fact);
  if (head === undefined) throw new Error(`The history of a call begins with ${fact.type}; expected call.submitted.`);
  const next: CallState = { ...head, version: head.version + 1, lastSeq: fact.seq, lifecycleSeqs: lifecycle(head, fact) };
  switch (fact.type) {
    case 'call.update':
      return { ...next, updates: countedUpdates(head.updates, fact.updates) };
    case 'call.progress':
    case 'call.hook':
      return next;
    case 'call.approval_requested': {
      const deadline = Math.min(fact.time + fact.withinMs, head.totalDeadline);
      return { ...next, status: 'waiting_approval', deadline, timer: deadline };
    }
    case 'call.approval_decided':
      return fact.decision === 'allow' ? queued(next, fact.time, 0) : next;
    case 'call.start':
      return started(next, fact);
    case 'call.retry':
      return {
        ...queued(next, fact.time, fact.delayMs),
        fence: raised(head, fact),
        failures: head.failures + Number(fact.countsAsFailure),
      };
    case 'call.cancel_requested': {
      const cancelling = { ...next, cancelRequested: true, cancelBy: fact.time + fact.graceMs };
      return { ...cancelling, timer: runningTimer(cancelling) };
    }
    case 'call.end':
      return { ...next, status: 'ended', fence: raised(head, fact), leaseUntil: 0, timer: 0 };
    default:
      return fact satisfies never;
  }
}

/** When somebody must look at a running call: the lease, the deadline or the grace of a cancel is over. */
export function runningTimer(head: Pick<CallState, 'leaseUntil' | 'deadline' | 'cancelBy'>): number {
  return Math.min(head.leaseUntil, head.deadline + DEADLINE_SLACK_MS, head.cancelBy > 0 ? head.cancelBy : Infinity);
}

function submitted(fact: FactOf<'call.submitted'>): CallState {
  const { terms } = fact;
  const totalDeadline = fact.time + fact.totalMs;
  const deadline = Math.min(fact.time + terms.queueMs, totalDeadline);
  return {
    callId: fact.callId,
    status: 'queued',
    version: 1,
    attempt: 0,
    fence: 0,
    wseq: 0,
    failures: 0,
    cancelRequested: false,
    cancelBy: 0,
    deadline,
    totalDeadline,
    leaseUntil: 0,
    notBefore: 0,
    timer: Math.min(fact.time + DISPATCH_SAFETY_MS, deadline),
    submittedAt: fact.time,
    firstStartedAt: 0,
    lastSeq: fact.seq,
    lifecycleSeqs: [fact.seq],
    lastWrite: { version: 0, seq: 0, time: 0 },
    claimToken: '-',
    updates: NO_UPDATES,
    meta: fact.meta,
    terms,
    pool: terms.pool,
    priority: terms.priority,
    effect: terms.effect,
    maxAttempts: terms.maxAttempts,
  };
}

function started(next: CallState, fact: FactOf<'call.start'>): CallState {
  const running: CallState = {
    ...next,
    status: 'running',
    attempt: next.attempt + 1,
    fence: fact.fence,
    wseq: 0,
    deadline: Math.min(fact.time + next.terms.runMs, next.totalDeadline),
    leaseUntil: fact.time + fact.leaseMs,
    notBefore: 0,
    firstStartedAt: next.firstStartedAt === 0 ? fact.time : next.firstStartedAt,
    updates: next.attempt === 0 ? NO_UPDATES : next.updates,
  };
  return { ...running, timer: runningTimer(running) };
}

/** Back to the queue (or into it, after an approval): a new queue wait begins when the delay is over. */
function queued(next: CallState, time: number, delayMs: number): CallState {
  const deadline = Math.min(time + delayMs + next.terms.queueMs, next.totalDeadline);
  const fromApproval = next.status === 'waiting_approval';
  return {
    ...next,
    status: 'queued',
    deadline,
    leaseUntil: 0,
    notBefore: fromApproval ? 0 : time + delayMs,
    timer: Math.min(time + (fromApproval ? DISPATCH_SAFETY_MS : delayMs), deadline),
    claimToken: '-',
  };
}

/** A Retry or End that no worker wrote raises the fence: from then on the old worker is out. */
function raised(head: CallState, fact: CallFact): number {
  return fact.fence === 0 ? head.fence + 1 : head.fence;
}

function lifecycle(head: CallState, { type, seq }: CallFact): readonly number[] {
  return changesCall(type) ? [...head.lifecycleSeqs, seq] : head.lifecycleSeqs;
}
