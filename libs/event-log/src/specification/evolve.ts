// Part of the executable specification of stream/apply-transitions.lua: tests run it, the product does not.
import { DEADLINE_SLACK_MS, DISPATCH_SAFETY_MS } from '../call/timing.js';
import { changesCall } from '#contracts';
import type { CallState } from '../call/call-snapshot.js';
import type { EventSummary } from './call-commands.js';
import { parseSuspension, suspensionText, type SuspensionFacts } from '../call/suspension-text.js';
import { countedUpdates, NO_UPDATES } from '../call/updates-digest.js';

type EventOf<T extends EventSummary['type']> = Extract<EventSummary, { type: T }>;

/**
 * Executable specification of the call snapshot: the state after one more event. Total over legal histories, which `decide`
 * defines. Fields without an event (lease renewals, write sequence, claim tokens) stay unchanged.
 */
export function evolve(state: CallState | undefined, event: EventSummary): CallState {
  if (event.type === 'call.submitted') return submitted(event);
  if (state === undefined) throw new Error(`The history of a call begins with ${event.type}; expected call.submitted.`);
  const next: CallState = { ...state, version: state.version + 1, lastSeq: event.seq, lifecycleSeqs: lifecycle(state, event) };
  switch (event.type) {
    case 'call.update':
      return { ...next, updates: countedUpdates(state.updates, event.updates) };
    case 'call.progress':
    case 'call.hook':
    case 'call.turn':
      return next;
    case 'call.approval_requested': {
      const deadline = Math.min(event.time + event.withinMs, state.totalDeadline);
      return { ...next, status: 'waiting_approval', deadline, timer: deadline };
    }
    case 'call.approval_decided':
      return event.decision === 'allow' ? queued(edited(next, event), event.time) : next;
    case 'call.start':
      return started(next, event);
    case 'call.retry':
      if (event.until !== undefined) return suspended(next, event, event.until);
      return {
        ...queued(next, event.time, event.delayMs),
        fence: raised(state, event),
        failures: state.failures + Number(event.countsAsFailure),
      };
    case 'call.input_requested':
      return waitingForInput(next, event);
    case 'call.input_given':
      return queued(withSuspension(next, { kind: 'given', inputSeq: event.seq }), event.time);
    case 'call.cancel_requested': {
      const cancelling = { ...next, cancelRequested: true, cancelBy: event.time + event.graceMs };
      return { ...cancelling, timer: runningTimer(cancelling) };
    }
    case 'call.end':
      return { ...next, status: 'ended', fence: raised(state, event), leaseUntil: 0, timer: 0 };
    default:
      return event satisfies never;
  }
}

/** Time at which the reconciler checks a running call: the end of the lease, the deadline or the grace of a cancel. */
export function runningTimer(state: Pick<CallState, 'leaseUntil' | 'deadline' | 'cancelBy'>): number {
  return Math.min(state.leaseUntil, state.deadline + DEADLINE_SLACK_MS, state.cancelBy > 0 ? state.cancelBy : Infinity);
}

/** State of a call after a child ended or a request woke it. There is no event for this. */
export function wake(state: CallState, now: number): CallState {
  if (state.status === 'running') return withSuspension(state, { woken: true });
  if (state.status !== 'queued' || now >= state.notBefore || parseSuspension(state.suspension).kind !== 'children') return state;
  return queued(withSuspension(state, { kind: 'woken', woken: false }), now);
}

/** A call that was woken while it ran is due at once. */
function suspended(next: CallState, event: EventOf<'call.retry'>, until: 'timer' | 'children'): CallState {
  const facts = { kind: until, seq: event.seq, inputSeq: 0, woken: false };
  if (until === 'timer' || !parseSuspension(next.suspension).woken) return queued(withSuspension(next, facts), event.time, event.delayMs);
  return queued(withSuspension(next, { ...facts, kind: 'woken' }), event.time);
}

function waitingForInput(next: CallState, event: EventOf<'call.input_requested'>): CallState {
  const { time, seq, resumeInMs, expiresInMs = 0 } = event;
  const waiting: CallState = {
    ...withSuspension(next, { kind: 'input', seq, inputSeq: 0, woken: false }),
    status: 'waiting_input',
    leaseUntil: 0,
    claimToken: '-',
  };
  if (resumeInMs === undefined) {
    const deadline = Math.min(time + expiresInMs, next.totalDeadline);
    return { ...waiting, deadline, notBefore: 0, timer: deadline };
  }
  const deadline = Math.min(time + resumeInMs + next.options.queueMs, next.totalDeadline);
  return { ...waiting, deadline, notBefore: time + resumeInMs, timer: Math.min(time + resumeInMs, deadline) };
}

function withSuspension(state: CallState, change: Partial<SuspensionFacts>): CallState {
  return { ...state, suspension: suspensionText({ ...parseSuspension(state.suspension), ...change }) };
}

function submitted(event: EventOf<'call.submitted'>): CallState {
  const { terms } = event;
  const totalDeadline = event.time + event.totalMs;
  const deadline = Math.min(event.time + terms.queueMs, totalDeadline);
  return {
    callId: event.callId,
    status: 'queued',
    version: 1,
    attempt: 0,
    fence: 0,
    writeSeq: 0,
    failures: 0,
    cancelRequested: false,
    cancelBy: 0,
    deadline,
    totalDeadline,
    leaseUntil: 0,
    notBefore: 0,
    timer: Math.min(event.time + DISPATCH_SAFETY_MS, deadline),
    submittedAt: event.time,
    firstStartedAt: 0,
    lastSeq: event.seq,
    lifecycleSeqs: [event.seq],
    lastWrite: { version: 0, seq: 0, time: 0 },
    claimToken: '-',
    updates: NO_UPDATES,
    suspension: '',
    openBytes: 0,
    stateBytes: 0,
    meta: event.meta,
    options: terms,
    queue: terms.queue ?? terms.pool,
    pool: terms.pool,
    priority: terms.priority,
    effect: terms.effect,
    maxAttempts: terms.maxAttempts,
  };
}

/** Binds the call to the edited arguments. */
function edited(next: CallState, { editedDigest }: EventOf<'call.approval_decided'>): CallState {
  return editedDigest === undefined ? next : { ...next, options: { ...next.options, digest: editedDigest, edited: true } };
}

function started(next: CallState, event: EventOf<'call.start'>): CallState {
  const running: CallState = {
    ...withSuspension(next, { woken: false }),
    status: 'running',
    attempt: next.attempt + 1,
    fence: event.fence,
    writeSeq: 0,
    deadline: Math.min(event.time + next.options.runMs, next.totalDeadline),
    leaseUntil: event.time + event.leaseMs,
    notBefore: 0,
    firstStartedAt: next.firstStartedAt === 0 ? event.time : next.firstStartedAt,
  };
  return { ...running, timer: runningTimer(running) };
}

/**
 * Queues the call: a new queue wait begins after the delay. Without a delay the writer dispatches the call, and the reconciler
 * if that fails.
 */
function queued(next: CallState, time: number, delayMs?: number): CallState {
  const deadline = Math.min(time + (delayMs ?? 0) + next.options.queueMs, next.totalDeadline);
  return {
    ...next,
    status: 'queued',
    deadline,
    leaseUntil: 0,
    notBefore: delayMs === undefined ? 0 : time + delayMs,
    timer: Math.min(time + (delayMs ?? DISPATCH_SAFETY_MS), deadline),
    claimToken: '-',
  };
}

/** A Retry or End that no worker wrote raises the fence, which excludes the old worker. */
function raised(state: CallState, event: EventSummary): number {
  return event.fence === 0 ? state.fence + 1 : state.fence;
}

function lifecycle(state: CallState, { type, seq }: EventSummary): readonly number[] {
  return changesCall(type) ? [...state.lifecycleSeqs, seq] : state.lifecycleSeqs;
}
