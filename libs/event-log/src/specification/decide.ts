// Part of the executable specification of stream/apply-transitions.lua: tests run it, the product does not.
import type { Rejection } from '../event-log.port.js';
import type { CallCommand, EventSummary, DecidedEvent, Decision, DecisionContext } from './call-commands.js';
import type { CallState } from '../call/call-snapshot.js';
import { evolve, runningTimer, wake } from './evolve.js';

type CommandOf<K extends CallCommand['kind']> = Extract<CallCommand, { kind: K }>;
/** Summary of an event without its place in the log. */
type NewEvent = EventSummary extends infer F ? (F extends EventSummary ? Omit<F, 'seq' | 'time'> : never) : never;

/**
 * Executable specification of the state machine in `stream/apply-transitions.lua`; no product code runs it.
 *
 * Returns the effects of a command on a call, as values only. A property test runs random transitions through this function and
 * through the script on a real Redis, and compares answers, snapshots, events and timers. The order of the checks is part of
 * the contract: exists, was applied before, has ended, guard, state.
 */
export function decide(state: CallState | undefined, command: CallCommand, context: DecisionContext): Decision {
  if (command.kind === 'accept') return accept(state, command, context);
  if (state === undefined) return { code: 'NOT_FOUND' };
  if (context.applied !== undefined) return { code: 'REPLAY', ...context.applied };
  if (isRepeat(state, command)) return { code: 'REPLAY', ...state.lastWrite };
  if (state.status === 'ended') return { code: 'ENDED' };
  return guardOf(state, command, context) ?? transition(state, command, context);
}

function accept(state: CallState | undefined, command: CommandOf<'accept'>, context: DecisionContext): Decision {
  const summaries: NewEvent[] = [
    { type: 'call.submitted', fence: 0, callId: command.callId, meta: command.meta, terms: command.terms, totalMs: command.totalMs },
  ];
  summaries.push(...hookEvents(command.hooks));
  if (command.followUp === 'refuse') summaries.push({ type: 'call.end', fence: 0 });
  else if (command.followUp !== 'queue')
    summaries.push({ type: 'call.approval_requested', fence: 0, withinMs: command.followUp.approvalWithinMs });

  if (state !== undefined)
    return {
      code: 'REPLAY',
      version: summaries.length,
      seq: (state.lifecycleSeqs[0] ?? 0) + summaries.length - 1,
      time: state.submittedAt,
    };
  if (context.keyHolder !== undefined) {
    const same = context.keyHolder.requestSha256 === command.requestSha256;
    return { code: same ? 'IDEM' : 'IDEM_MISMATCH', callId: context.keyHolder.callId };
  }
  return applied(undefined, summaries, context);
}

/** True for a repeated write of a worker, or a repeat of the claim that holds the attempt. */
function isRepeat(state: CallState, command: CallCommand): boolean {
  if (command.kind === 'claim')
    return state.status === 'running' && state.attempt === command.attempt && state.claimToken === command.token;
  return (
    'guard' in command && command.guard.by === 'worker' && command.guard.fence === state.fence && command.guard.writeSeq <= state.writeSeq
  );
}

/** Checks that the writer may still write; independent of the state. */
function guardOf(state: CallState, command: CallCommand, { now }: DecisionContext): Rejection | undefined {
  const guard = 'guard' in command ? command.guard : undefined;
  if (guard?.by === 'command') return guard.version === state.version ? undefined : { code: 'CONFLICT', version: state.version };
  const fence = guard?.fence ?? ('fence' in command ? command.fence : state.fence);
  if (fence !== state.fence) return { code: 'FENCED', fence: state.fence };
  if (guard?.by === 'reconciler' && now < state.timer) return { code: 'NOT_DUE', retryInMs: state.timer - now };
  return undefined;
}

function transition(state: CallState, command: Exclude<CallCommand, { kind: 'accept' }>, context: DecisionContext): Decision {
  switch (command.kind) {
    case 'claim':
      return claim(state, command, context);
    case 'update':
      if (state.status !== 'running') return wrongState(state);
      return byWorker(state, { type: 'call.update', fence: state.fence, updates: command.updates }, command.guard.writeSeq, context);
    case 'progress':
      if (state.status !== 'running') return wrongState(state);
      return byWorker(state, { type: 'call.progress', fence: state.fence }, command.guard.writeSeq, context);
    case 'hook':
      if (state.status !== 'running') return wrongState(state);
      return byWorker(state, { type: 'call.hook', fence: state.fence }, command.guard.writeSeq, context);
    case 'turn':
      if (state.status !== 'running') return wrongState(state);
      return byWorker(state, { type: 'call.turn', fence: state.fence }, command.guard.writeSeq, context);
    case 'renew':
      return renew(state, command, context);
    case 'retry':
      return retry(state, command, context);
    case 'suspend':
    case 'requestInput':
      return suspend(state, command, context);
    case 'giveInput':
      if (state.status !== 'waiting_input' || context.now >= state.deadline) return wrongState(state);
      return applied(state, [{ type: 'call.input_given', fence: 0 }], context);
    case 'wake':
      return { code: 'OK', events: [], state: wake(state, context.now) };
    case 'end':
      return end(state, command, context);
    case 'requestCancel':
      if (state.status !== 'running' || state.cancelRequested) return wrongState(state);
      return applied(state, [{ type: 'call.cancel_requested', fence: 0, graceMs: command.graceMs }], context);
    case 'holdApproval':
      if (state.status !== 'waiting_approval') return wrongState(state);
      return applied(state, hookEvents(command.hooks), context);
    case 'decideApproval':
      return decideApproval(state, command, context);
    case 'deferDispatch':
      if (state.status !== 'queued' && !resumesByItself(state)) return wrongState(state);
      return { code: 'OK', events: [], state: { ...state, timer: Math.min(context.now + command.delayMs, state.deadline) } };
    default:
      return command satisfies never;
  }
}

function claim(state: CallState, command: CommandOf<'claim'>, context: DecisionContext): Decision {
  if (state.status !== 'queued' && !resumesByItself(state)) return wrongState(state);
  if (command.attempt !== state.attempt + 1) return { code: 'CONFLICT', version: state.version };
  if (context.now >= state.deadline) return wrongState(state);
  if (context.now < state.notBefore) return { code: 'NOT_DUE', retryInMs: state.notBefore - context.now };
  const decision = byWorker(state, { type: 'call.start', fence: state.fence + 1, leaseMs: command.leaseMs }, 0, context);
  return decision.code === 'OK' ? { ...decision, state: { ...decision.state, claimToken: command.token } } : decision;
}

function renew(state: CallState, command: CommandOf<'renew'>, { now }: DecisionContext): Decision {
  if (state.status !== 'running') return wrongState(state);
  const renewed = { ...state, leaseUntil: now + command.leaseMs };
  return { code: 'OK', events: [], state: { ...renewed, timer: runningTimer(renewed) } };
}

/**
 * Retries a failure only while attempts are left, and never a `once` effect. Only the worker, which knows that the tool has
 * stopped, may hand a call back without a failure (drained, suspended).
 */
function retry(state: CallState, command: CommandOf<'retry'>, context: DecisionContext): Decision {
  const { guard, countsAsFailure, delayMs } = command;
  const handsBack = guard.by === 'worker' && !countsAsFailure;
  const failures = state.failures + Number(countsAsFailure);
  if (state.status !== 'running' || state.cancelRequested || command.nextAttempt !== state.attempt + 1) return wrongState(state);
  if (!handsBack && (state.effect === 'once' || failures >= state.maxAttempts)) return wrongState(state);
  if (guard.by === 'reconciler') {
    if (context.now < state.leaseUntil) return { code: 'NOT_DUE', retryInMs: state.leaseUntil - context.now };
    return applied(state, [{ type: 'call.retry', fence: 0, delayMs, countsAsFailure }], context);
  }
  return byWorker(state, { type: 'call.retry', fence: state.fence, delayMs, countsAsFailure }, guard.writeSeq, context);
}

/** Suspends a call of any effect. Worker only, since it knows that the tool has stopped. */
function suspend(state: CallState, command: CommandOf<'suspend' | 'requestInput'>, context: DecisionContext): Decision {
  if (state.status !== 'running' || state.cancelRequested || command.nextAttempt !== state.attempt + 1) return wrongState(state);
  const { fence } = state;
  const { writeSeq } = command.guard;
  if (command.kind === 'suspend') {
    const { delayMs, until } = command;
    return byWorker(state, { type: 'call.retry', fence, delayMs, countsAsFailure: false, until }, writeSeq, context);
  }
  const { resumeInMs, expiresInMs } = command;
  return byWorker(state, { type: 'call.input_requested', fence, resumeInMs, expiresInMs }, writeSeq, context);
}

/** True for a tool that requested input and resumes without it after a time. */
function resumesByItself(state: CallState): boolean {
  return state.status === 'waiting_input' && state.notBefore > 0;
}

/**
 * A worker ends a call that it runs, a caller one that does not run yet, the reconciler one that is due. Only a running call
 * can complete.
 */
function end(state: CallState, { guard, outcome, hooks }: CommandOf<'end'>, context: DecisionContext): Decision {
  const running = state.status === 'running';
  if (outcome === 'completed' && !running) return wrongState(state);
  switch (guard.by) {
    case 'worker':
      return running ? byWorker(state, { type: 'call.end', fence: state.fence }, guard.writeSeq, context) : wrongState(state);
    case 'command':
      return running ? wrongState(state) : applied(state, [...hookEvents(hooks), { type: 'call.end', fence: 0 }], context);
    case 'reconciler':
      return applied(state, [{ type: 'call.end', fence: 0 }], context);
    default:
      return guard satisfies never;
  }
}

function decideApproval(
  state: CallState,
  { decision, digest, editedDigest, hooks }: CommandOf<'decideApproval'>,
  context: DecisionContext,
): Decision {
  if (state.status !== 'waiting_approval') return wrongState(state);
  if (digest !== state.options.digest) return { code: 'CONFLICT', version: state.version };
  if (context.now >= state.deadline) return wrongState(state);
  const summaries: NewEvent[] = [...hookEvents(hooks), { type: 'call.approval_decided', fence: 0, decision, editedDigest }];
  if (decision === 'deny') summaries.push({ type: 'call.end', fence: 0 });
  return applied(state, summaries, context);
}

/** Events of the gateway's hooks, written before the event that follows from them. */
function hookEvents(count = 0): NewEvent[] {
  return Array.from({ length: count }, () => ({ type: 'call.hook' as const, fence: 0 }));
}

function wrongState(state: CallState): Rejection {
  return { code: 'BAD_TRANSITION', status: state.status };
}

function byWorker(state: CallState, summary: NewEvent, writeSeq: number, context: DecisionContext): Decision {
  const decision = applied(state, [summary], context);
  if (decision.code !== 'OK') return decision;
  const { version, lastSeq } = decision.state;
  return { ...decision, state: { ...decision.state, writeSeq, lastWrite: { version, seq: lastSeq, time: context.now } } };
}

function applied(before: CallState | undefined, summaries: readonly NewEvent[], context: DecisionContext): Decision {
  const events: DecidedEvent[] = [];
  let state = before;
  for (const [index, summary] of summaries.entries()) {
    const seq = context.seq + index + 1;
    state = evolve(state, { ...summary, seq, time: context.now });
    events.push({ type: summary.type, seq, version: state.version, attempt: state.attempt, fence: summary.fence });
  }
  return state === undefined ? { code: 'NOT_FOUND' } : { code: 'OK', events, state: state };
}
