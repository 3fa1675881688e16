import type { EndData, HookRunData, SubmittedData } from '#contracts';
import { keys, partitionOf } from '#redis';
import { encodeOptions } from '../call/call-snapshot.js';
import type {
  EventOrigin,
  WorkerIdentity,
  CommandGuard,
  EventLogWriter,
  NewCall,
  ReconcilerGuard,
  WorkerGuard,
} from '../event-log.port.js';
import { metaText } from '../call/call-meta.js';
import type { Transition, TransitionArgument } from './transition.js';

/** Lifetime of an Idempotency-Key. */
export const IDEMPOTENCY_TTL_MS = 24 * 3_600_000;

/** Largest arguments that Start repeats, so that a watcher of Start needs no look-up. */
export const START_ARGUMENTS_BYTES = 1_024;

type Input<M extends keyof EventLogWriter> = Parameters<EventLogWriter[M]>[0];

/** `openBytes`: limit of the tenant's open calls in the partition; 0 for none. */
export function acceptTransition(call: NewCall, openBytes = 0): Transition {
  const { callId, meta, submitted, followUp, idempotency } = call;
  const text = submittedText(submitted, call.author);
  const { queueMs, runMs, totalMs } = submitted.timeouts;
  const terms = encodeOptions({
    queueMs,
    runMs,
    maxAttempts: submitted.retry.maxAttempts,
    effect: submitted.effect,
    pool: submitted.pool,
    queue: submitted.queue,
    priority: submitted.priority,
    startPayloadRange: text.startPayloadRange,
    digest: followUp?.kind === 'approval' ? assertToken(followUp.data.digest) : '-',
  });
  const key = idempotency ? { key: keys.idempotency(partitionOf(callId), meta.tenantId, idempotency.scopedKey) } : 0;
  return {
    operation: 'accept',
    callId,
    durable: true,
    args: [
      followUp === undefined ? 'queue' : followUp.kind === 'approval' ? 'approval' : 'refuse',
      totalMs,
      followUp?.kind === 'approval' ? ms(followUp.data.expiresInMs) : 0,
      key,
      IDEMPOTENCY_TTL_MS,
      idempotency === undefined ? '' : assertToken(idempotency.requestSha256),
      terms,
      metaText(meta),
      text.whole,
      followUp === undefined
        ? ''
        : followUp.kind === 'refused'
          ? endText(call.author, followUp.data)
          : eventText(call.author, followUp.data),
      ...hookArguments(callId, call.author, call.hookRuns),
      followUp?.kind === 'approval' ? pendingApprovals(callId) : 0,
      Buffer.byteLength(call.argumentsBlob ?? '') + Buffer.byteLength(call.secretArguments?.text ?? ''),
      openBytes,
    ],
  };
}

/** `token` names this claim, so that it is granted again, only to its owner, if its answer was lost. */
export function claimTransition(input: Input<'claim'>, token: string): Transition {
  return transition('claim', input.callId, [input.attempt, ...claimArgs(input, token)]);
}

/** Arguments common to all claims of a worker. */
export function claimArgs({ author, worker, leaseMs }: WorkerIdentity, token: string): [number, string, string, string] {
  return [ms(leaseMs), assertToken(token), `${authorText(author)},"data":{`, `,"worker":${JSON.stringify(worker)}}`];
}

export function updateTransition({ callId, guard, data, updates = '', author }: Input<'update'>): Transition {
  return transition('update', callId, [guard.fence, guard.writeSeq, eventText(author, data), { key: keys.updateIndex(callId) }, updates]);
}

export function progressTransition({ callId, guard, data, author }: Input<'progress'>): Transition {
  return transition('progress', callId, [guard.fence, guard.writeSeq, eventText(author, data), { key: keys.updateIndex(callId) }]);
}

export function hookTransition({ callId, guard, data, author }: Input<'hook'>): Transition {
  return transition('hook', callId, [guard.fence, guard.writeSeq, eventText(author, data), { key: keys.updateIndex(callId) }]);
}

export function turnTransition({ callId, guard, data, author }: Input<'turn'>): Transition {
  return transition('turn', callId, [guard.fence, guard.writeSeq, eventText(author, data), { key: keys.updateIndex(callId) }], true);
}

export function renewTransition({ callId, fence, leaseMs }: Input<'renew'>): Transition {
  return transition('renew', callId, [fence, ms(leaseMs)]);
}

export function deferTransition({ callId, fence, delayMs }: Input<'deferDispatch'>): Transition {
  return transition('defer', callId, [fence, ms(delayMs)]);
}

export function retryTransition({ callId, guard, data, countsAsFailure, author }: Input<'retry'>): Transition {
  const stored = { ...data, delayMs: ms(data.delayMs) };
  return transition('retry', callId, [
    ...guardArguments(callId, guard),
    data.nextAttempt,
    stored.delayMs,
    countsAsFailure ? 1 : 0,
    eventText(author, stored),
  ]);
}

/** `openBytes` as in `acceptTransition`; with suspended calls, inputs and edited arguments the limit is twice as high. */
export function suspendTransition({ callId, guard, data, keptBytes = 0, author }: Input<'suspend'>, openBytes = 0): Transition {
  const delayMs = ms(data.delayMs);
  const until = data.until === 'children' ? 'c' : 't';
  const text = eventText(author, { ...data, delayMs });
  return transition(
    'suspend',
    callId,
    [guard.fence, guard.writeSeq, data.nextAttempt, until, delayMs, 0, text, data.state?.bytes ?? 0, keptBytes, openBytes],
    true,
  );
}

/** Like `suspendTransition`. Throws a TypeError unless exactly one time is given: that at which the tool resumes, or the call ends. */
export function requestInputTransition({ callId, guard, data, keptBytes = 0, author }: Input<'requestInput'>, openBytes = 0): Transition {
  const { resumeInMs, expiresInMs, nextAttempt } = data;
  if ((resumeInMs === undefined) === (expiresInMs === undefined))
    throw new TypeError('requestInput: expected either resumeInMs or expiresInMs.');
  const times = resumeInMs === undefined ? [-1, ms(expiresInMs ?? 0)] : [ms(resumeInMs), 0];
  return transition(
    'suspend',
    callId,
    [guard.fence, guard.writeSeq, nextAttempt, 'i', ...times, eventText(author, data), data.state?.bytes ?? 0, keptBytes, openBytes],
    true,
  );
}

/** `openBytes` as of a suspension. */
export function giveInputTransition({ callId, guard, data, author }: Input<'giveInput'>, openBytes = 0): Transition {
  const args = [guard.version, commandKey(callId, guard), eventText(author, data), data.stored?.bytes ?? 0, openBytes];
  return transition('input', callId, args, true);
}

export function wakeTransition(callId: string): Transition {
  return transition('wake', callId, []);
}

export function endTransition({ callId, guard, data, hookRuns, author }: Input<'end'>): Transition {
  if (hookRuns !== undefined && guard.by !== 'command') throw new TypeError(`end: hook runs come with a command only; got ${guard.by}.`);
  const args = [
    ...guardArguments(callId, guard),
    data.outcome,
    endText(author, data),
    ...hookArguments(callId, author, hookRuns),
    guard.by === 'worker' ? 0 : pendingApprovals(callId),
  ];
  return transition('end', callId, args, true);
}

export function cancelTransition({ callId, guard, data, author }: Input<'requestCancel'>): Transition {
  return transition('cancel', callId, [guard.version, commandKey(callId, guard), ms(data.graceMs), eventText(author, data)], true);
}

/** `openBytes` as of a suspension. */
export function heldTransition({ callId, guard, hookRuns, keptBytes = 0, author }: Input<'holdApproval'>, openBytes = 0): Transition {
  const args = [guard.version, commandKey(callId, guard), ...hookArguments(callId, author, hookRuns), keptBytes, openBytes];
  return transition('held', callId, args, true);
}

/** Throws a TypeError for a denial without its End: the two are one transition. */
export function decideTransition({ callId, guard, data, end, hookRuns, author }: Input<'decideApproval'>): Transition {
  if ((data.decision === 'deny') !== (end !== undefined))
    throw new TypeError(
      `decideApproval: a denial comes with its End, an approval without; got ${data.decision} ${end ? 'with' : 'without'} End.`,
    );
  if (data.edited !== undefined && data.decision === 'deny')
    throw new TypeError('decideApproval: a denial edits nothing; got edited arguments.');
  const args = [
    guard.version,
    commandKey(callId, guard),
    data.decision,
    assertToken(data.digest),
    eventText(author, data),
    end ? endText(author, end) : '',
    ...hookArguments(callId, author, hookRuns),
    pendingApprovals(callId),
    data.edited === undefined ? '' : assertToken(data.edited.argumentsDigest),
  ];
  return transition('decide', callId, args, true);
}

function transition(operation: Transition['operation'], callId: string, args: readonly TransitionArgument[], durable = false): Transition {
  return { operation, callId, args, durable };
}

function guardArguments(callId: string, guard: WorkerGuard | ReconcilerGuard | CommandGuard): TransitionArgument[] {
  switch (guard.by) {
    case 'worker':
      return [guard.by, guard.fence, guard.writeSeq];
    case 'reconciler':
      return [guard.by, guard.fence, 0];
    case 'command':
      return [guard.by, guard.version, commandKey(callId, guard)];
    default:
      return guard satisfies never;
  }
}

function pendingApprovals(callId: string): { key: string } {
  return { key: keys.pendingApprovals(partitionOf(callId)) };
}

function commandKey(callId: string, { commandId }: CommandGuard): { key: string } {
  return { key: keys.command(callId, commandId) };
}

/** `call.submitted` with the tool and the arguments in front, so that the script can copy them into Start as one piece. */
function submittedText(submitted: SubmittedData, author: EventOrigin): { whole: string; startPayloadRange: [number, number] } {
  const { tool, arguments: args } = submitted;
  const before = `${authorText(author)},"data":{`;
  const toolText = `"tool":${JSON.stringify(tool)}`;
  const argsText = args === undefined ? '' : `,"arguments":${JSON.stringify(args)}`;
  const repeated = Buffer.byteLength(argsText) <= START_ARGUMENTS_BYTES ? toolText + argsText : toolText;
  return {
    whole: `${before}${toolText}${argsText},${JSON.stringify({ ...submitted, tool: undefined, arguments: undefined }).slice(1)}`,
    startPayloadRange: [Buffer.byteLength(before), Buffer.byteLength(repeated)],
  };
}

function eventText(author: EventOrigin, data: object): string {
  return `${authorText(author)},"data":${JSON.stringify(data)}`;
}

/** Joins the events by line feeds, which JSON text does not contain. */
function hookArguments(callId: string, author: EventOrigin, runs: readonly HookRunData[] = []): [string, TransitionArgument] {
  if (runs.length === 0) return ['', 0];
  return [runs.map((run) => `${eventText(author, run)}\n`).join(''), { key: keys.updateIndex(callId) }];
}

/** Text of an End without its last brace: the script appends the digest of the updates. */
function endText(author: EventOrigin, { updates: _stamped, ...data }: EndData): string {
  return eventText(author, data).slice(0, -1);
}

function authorText({ source, actor, actorname }: EventOrigin): string {
  const name = actorname === undefined ? '' : `,"actorname":${JSON.stringify(actorname)}`;
  return `"source":${JSON.stringify(source)},"actor":${JSON.stringify(actor)}${name}`;
}

/** Rounds a duration to whole milliseconds, at least 0. */
function ms(duration: number): number {
  return Math.max(0, Math.round(duration));
}

/** Rejects blanks, which separate the words of the packed snapshot. */
function assertToken(text: string): string {
  if (!/^\S+$/.test(text)) throw new TypeError(`Expected one word without blanks, got ${JSON.stringify(text)}.`);
  return text;
}
