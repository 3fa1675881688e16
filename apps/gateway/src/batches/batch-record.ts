import { z } from 'zod';
import { BatchCallBody, BatchStop, BatchStrategy, OnFailure, Principal, SteeringMessage } from '#contracts';
import { DeferredApproval } from '../approvals/approval-deferrals.service.js';

/** What never changes about a batch. `v` is the version of this form; a later one reads the earlier ones. */
export const BatchDefinition = z.object({
  v: z.literal(1),
  id: z.string(),
  /** The key that submitted the batch, as it was then. Each step looks up by `keyId` what the key may do now. */
  principal: Principal,
  sessionId: z.string().optional(),
  agentId: z.string().optional(),
  userId: z.string().optional(),
  /** The trace of the submission: its calls continue it. */
  traceparent: z.string().optional(),
  strategy: BatchStrategy,
  onFailure: OnFailure,
  /** By call. */
  readOnly: z.array(z.boolean()),
  verdicts: z.array(z.enum(['allow', 'ask', 'refused', 'malformed'])),
});
export type BatchDefinition = z.output<typeof BatchDefinition>;

/** What changes while a batch runs, but for where its calls are: that the log says. */
export interface BatchProgress {
  readonly stop?: BatchStop;
  /** Redis ms. */
  readonly endedAt?: number;
  readonly steering: readonly SteeringMessage[];
  /** By place in the batch; a hole is a call that is not known to be submitted. */
  readonly callIds: ReadonlyMap<number, string>;
  /** By call id. */
  readonly held: ReadonlyMap<string, DeferredApproval>;
}

export interface BatchRecord extends BatchProgress {
  readonly doc: BatchDefinition;
  readonly submittedAt: number;
  /** Empty once the batch has ended. */
  readonly calls: readonly BatchCallBody[];
}

/** Names of the fields of the batch's hash besides `doc`, `calls`, `at`, `stop`, `steering`, `ended`. */
export const fieldOf = { call: (index: number) => `c${index}`, held: (callId: string) => `a${callId}` };

/** A batch as its creation leaves it, but that `submittedAt` is of this process's clock. */
export function newRecord(doc: BatchDefinition, calls: readonly BatchCallBody[]): BatchRecord {
  return { doc, calls, submittedAt: Date.now(), steering: [], callIds: new Map(), held: new Map() };
}

type Fields = Readonly<Record<string, string>>;

/** Undefined when there is no such batch. */
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
    held: new Map(
      entries.flatMap(([name, value]) => (/^a\d/.test(name) ? [[name.slice(1), DeferredApproval.parse(JSON.parse(value))] as const] : [])),
    ),
  };
}
