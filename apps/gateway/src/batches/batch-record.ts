import { z } from 'zod';
import { BatchCallBody, BatchStop, BatchStrategy, OnFailure, Principal, SteeringMessage } from '#contracts';
import { DeferredApproval } from '../approvals/approval-deferrals.service.js';

/** Immutable facts of a batch. `v`: version of this format; later versions read earlier ones. */
export const BatchDefinition = z.object({
  v: z.literal(1),
  id: z.string(),
  /** Submitting key at that time. Each step looks up its current rights by `keyId`. */
  principal: Principal,
  sessionId: z.string().optional(),
  agentId: z.string().optional(),
  userId: z.string().optional(),
  /** Trace of the submission, which its calls continue. */
  traceparent: z.string().optional(),
  strategy: BatchStrategy,
  onFailure: OnFailure,
  /** Read-only flag of each call. */
  readOnly: z.array(z.boolean()),
  verdicts: z.array(z.enum(['allow', 'ask', 'refused', 'malformed'])),
});
export type BatchDefinition = z.output<typeof BatchDefinition>;

/** Mutable facts of a batch, except the state of its calls, which is in the log. */
export interface BatchProgress {
  readonly stop?: BatchStop;
  /** Redis time in milliseconds. */
  readonly endedAt?: number;
  readonly steering: readonly SteeringMessage[];
  /** Call ids by index in the batch; a missing index is not known to be submitted. */
  readonly callIds: ReadonlyMap<number, string>;
  /** Deferred approvals by call id. */
  readonly deferred: ReadonlyMap<string, DeferredApproval>;
}

export interface BatchRecord extends BatchProgress {
  readonly doc: BatchDefinition;
  readonly submittedAt: number;
  /** Empty after the end of the batch. */
  readonly calls: readonly BatchCallBody[];
}

/** Field names of the batch's hash besides `doc`, `calls`, `at`, `stop`, `steering`, `ended`. */
export const fieldOf = { call: (index: number) => `c${index}`, deferred: (callId: string) => `a${callId}` };

/** Record of a new batch as stored, except that `submittedAt` is by this process's clock. */
export function newRecord(doc: BatchDefinition, calls: readonly BatchCallBody[]): BatchRecord {
  return { doc, calls, submittedAt: Date.now(), steering: [], callIds: new Map(), deferred: new Map() };
}

type Fields = Readonly<Record<string, string>>;

/** Undefined if there is no such batch. */
export function recordOf(fields: Fields): BatchRecord | undefined {
  const { doc, calls, at } = fields;
  if (doc === undefined) return undefined;
  return {
    ...progressOf(fields),
    doc: BatchDefinition.parse(JSON.parse(doc)),
    submittedAt: Number(at),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was accepted and stored here
    calls: calls === undefined ? [] : (JSON.parse(calls) as BatchCallBody[]),
  };
}

export function progressOf(fields: Fields): BatchProgress {
  const entries = Object.entries(fields);
  const { stop, ended, steering } = fields;
  return {
    ...(stop === undefined ? {} : { stop: BatchStop.parse(JSON.parse(stop)) }),
    ...(ended === undefined ? {} : { endedAt: Number(ended) }),
    steering: steering === undefined ? [] : z.array(SteeringMessage).parse(JSON.parse(steering)),
    callIds: new Map(entries.flatMap(([name, value]) => (/^c\d+$/.test(name) ? [[Number(name.slice(1)), value] as const] : []))),
    deferred: new Map(
      entries.flatMap(([name, value]) => (/^a\d/.test(name) ? [[name.slice(1), DeferredApproval.parse(JSON.parse(value))] as const] : [])),
    ),
  };
}
