import type { Rejection } from '../event-log.port.js';
import type { CallCommand, CallFact, DecidedEvent, Decided, Moment } from './call.commands.js';
import type { CallState } from './call-snapshot.js';
import { evolve, runningTimer } from './evolve.js';

type CommandOf<K extends CallCommand['kind']> = Extract<CallCommand, { kind: K }>;
/** What a fact is without its place in the log. */
type NewFact = CallFact extends infer F ? (F extends CallFact ? Omit<F, 'seq' | 'time'> : never) : never;

/**
 * The state machine of a call (see the README's diagram): answers what a command does to it, as values only.
 * transition.lua answers the same for the same facts; a property test holds the two together.
 *
 * The order of the checks is part of the contract: exists, was applied before, has ended, guard, state.
 */
export function decide(head: CallState | undefined, command: CallCommand, moment: Moment): Decided {
  if (command.kind === 'accept') return accept(head, command, moment);
  if (head === undefined) return { code: 'NOT_FOUND' };
  if (moment.applied !== undefined) return { code: 'REPLAY', ...moment.applied };
  if (isRepeat(head, command)) return { code: 'REPLAY', ...head.lastWrite };
  if (head.status === 'ended') return { code: 'ENDED' };
  return guardOf(head, command, moment) ?? transition(head, command, moment);
}

function accept(head: CallState | undefined, command: CommandOf<'accept'>, moment: Moment): Decided {
  const facts: NewFact[] = [
    { type: 'call.submitted', fence: 0, callId: command.callId, meta: command.meta, terms: command.terms, totalMs: command.totalMs },
  ];
  facts.push(...hookFacts(command.hooks));
  if (command.then === 'refuse') facts.push({ type: 'call.end', fence: 0 });
  else if (command.then !== 'queue') facts.push({ type: 'call.approval_requested', fence: 0, withinMs: command.then.approvalWithinMs });

  if (head !== undefined)
    return { code: 'REPLAY', version: facts.length, seq: (head.lifecycleSeqs[0] ?? 0) + facts.length - 1, time: head.submittedAt };
  if (moment.keyHolder !== undefined) {
    const same = moment.keyHolder.requestSha256 === command.requestSha256;
    return { code: same ? 'IDEM' : 'IDEM_MISMATCH', callId: moment.keyHolder.callId };
  }
  return applied(undefined, facts, moment);
}

/** A worker's write that is in the head already, or the claim that holds the attempt asked again. */
function isRepeat(head: CallState, command: CallCommand): boolean {
  if (command.kind === 'claim') return head.status === 'running' && head.attempt === command.attempt && head.claimToken === command.token;
  return 'guard' in command && command.guard.by === 'worker' && command.guard.fence === head.fence && command.guard.wseq <= head.wseq;
}

/** Is the writer still who may write? Says nothing about the state. */
function guardOf(head: CallState, command: CallCommand, { now }: Moment): Rejection | undefined {
  const guard = 'guard' in command ? command.guard : undefined;
  if (guard?.by === 'command') return guard.version === head.version ? undefined : { code: 'CONFLICT', version: head.version };
  const fence = guard?.fence ?? ('fence' in command ? command.fence : head.fence);
  if (fence !== head.fence) return { code: 'FENCED', fence: head.fence };
  if (guard?.by === 'reconciler' && now < head.timer) return { code: 'NOT_DUE', retryInMs: head.timer - now };
  return undefined;
}

function transition(head: CallState, command: Exclude<CallCommand, { kind: 'accept' }>, moment: Moment): Decided {
  switch (command.kind) {
    case 'claim':
      return claim(head, command, moment);
    case 'update':
      if (head.status !== 'running') return wrongState(head);
      return byWorker(head, { type: 'call.update', fence: head.fence, updates: command.updates }, command.guard.wseq, moment);
    case 'progress':
      if (head.status !== 'running') return wrongState(head);
      return byWorker(head, { type: 'call.progress', fence: head.fence }, command.guard.wseq, moment);
    case 'hook':
      if (head.status !== 'running') return wrongState(head);
      return byWorker(head, { type: 'call.hook', fence: head.fence }, command.guard.wseq, moment);
    case 'renew':
      return renew(head, command, moment);
    case 'retry':
      return retry(head, command, moment);
    case 'end':
      return end(head, command, moment);
    case 'requestCancel':
      if (head.status !== 'running' || head.cancelRequested) return wrongState(head);
      return applied(head, [{ type: 'call.cancel_requested', fence: 0, graceMs: command.graceMs }], moment);
    case 'decideApproval':
      return decideApproval(head, command, moment);
    case 'deferDispatch':
      if (head.status !== 'queued') return wrongState(head);
      return { code: 'OK', events: [], head: { ...head, timer: Math.min(moment.now + command.delayMs, head.deadline) } };
    default:
      return command satisfies never;
  }
}

function claim(head: CallState, command: CommandOf<'claim'>, moment: Moment): Decided {
  if (head.status !== 'queued') return wrongState(head);
  if (command.attempt !== head.attempt + 1) return { code: 'CONFLICT', version: head.version };
  if (moment.now >= head.deadline) return wrongState(head);
  if (moment.now < head.notBefore) return { code: 'NOT_DUE', retryInMs: head.notBefore - moment.now };
  const decision = byWorker(head, { type: 'call.start', fence: head.fence + 1, leaseMs: command.leaseMs }, 0, moment);
  return decision.code === 'OK' ? { ...decision, head: { ...decision.head, claimToken: command.token } } : decision;
}

function renew(head: CallState, command: CommandOf<'renew'>, { now }: Moment): Decided {
  if (head.status !== 'running') return wrongState(head);
  const renewed = { ...head, leaseUntil: now + command.leaseMs };
  return { code: 'OK', events: [], head: { ...renewed, timer: runningTimer(renewed) } };
}

/**
 * A failure is tried again only while attempts are left and never for an effect that must not happen twice. Handing
 * a call back without a failure (drained, suspended) is for the worker alone, which knows that nothing is under way.
 */
function retry(head: CallState, command: CommandOf<'retry'>, moment: Moment): Decided {
  const { guard, countsAsFailure, delayMs } = command;
  const handsBack = guard.by === 'worker' && !countsAsFailure;
  const failures = head.failures + Number(countsAsFailure);
  if (head.status !== 'running' || head.cancelRequested || command.nextAttempt !== head.attempt + 1) return wrongState(head);
  if (!handsBack && (head.effect === 'once' || failures >= head.maxAttempts)) return wrongState(head);
  if (guard.by === 'reconciler') {
    if (moment.now < head.leaseUntil) return { code: 'NOT_DUE', retryInMs: head.leaseUntil - moment.now };
    return applied(head, [{ type: 'call.retry', fence: 0, delayMs, countsAsFailure }], moment);
  }
  return byWorker(head, { type: 'call.retry', fence: head.fence, delayMs, countsAsFailure }, guard.wseq, moment);
}

/** A worker ends what it runs, a caller what does not run yet, the reconciler whatever is due. Only what runs can complete. */
function end(head: CallState, { guard, outcome, hooks }: CommandOf<'end'>, moment: Moment): Decided {
  const running = head.status === 'running';
  if (outcome === 'completed' && !running) return wrongState(head);
  switch (guard.by) {
    case 'worker':
      return running ? byWorker(head, { type: 'call.end', fence: head.fence }, guard.wseq, moment) : wrongState(head);
    case 'command':
      return running ? wrongState(head) : applied(head, [...hookFacts(hooks), { type: 'call.end', fence: 0 }], moment);
    case 'reconciler':
      return applied(head, [{ type: 'call.end', fence: 0 }], moment);
    default:
      return guard satisfies never;
  }
}

function decideApproval(head: CallState, { decision, digest, hooks }: CommandOf<'decideApproval'>, moment: Moment): Decided {
  if (head.status !== 'waiting_approval') return wrongState(head);
  if (digest !== head.terms.digest) return { code: 'CONFLICT', version: head.version };
  if (moment.now >= head.deadline) return wrongState(head);
  const facts: NewFact[] = [...hookFacts(hooks), { type: 'call.approval_decided', fence: 0, decision }];
  if (decision === 'deny') facts.push({ type: 'call.end', fence: 0 });
  return applied(head, facts, moment);
}

/** Hooks that the gateway ran, in events before the one that follows from them. */
function hookFacts(count = 0): NewFact[] {
  return Array.from({ length: count }, () => ({ type: 'call.hook' as const, fence: 0 }));
}

function wrongState(head: CallState): Rejection {
  return { code: 'BAD_TRANSITION', status: head.status };
}

function byWorker(head: CallState, fact: NewFact, wseq: number, moment: Moment): Decided {
  const decision = applied(head, [fact], moment);
  if (decision.code !== 'OK') return decision;
  const { version, lastSeq } = decision.head;
  return { ...decision, head: { ...decision.head, wseq, lastWrite: { version, seq: lastSeq, time: moment.now } } };
}

function applied(head: CallState | undefined, facts: readonly NewFact[], moment: Moment): Decided {
  const events: DecidedEvent[] = [];
  let state = head;
  for (const [index, fact] of facts.entries()) {
    const seq = moment.seq + index + 1;
    state = evolve(state, { ...fact, seq, time: moment.now });
    events.push({ type: fact.type, seq, version: state.version, attempt: state.attempt, fence: fact.fence });
  }
  return state === undefined ? { code: 'NOT_FOUND' } : { code: 'OK', events, head: state };
}
