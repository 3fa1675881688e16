import type {
  AppliedHook,
  CallError,
  CallOutcome,
  Decision,
  EndData,
  FileAccess,
  HookOrder,
  HookRunData,
  JsonValue,
  PolicyProfile,
  Principal,
  SubmitCallBody,
  SubmittedData,
  Timeouts,
  ToolDescriptor,
} from '#contracts';
import type { EventOrigin, NewCall } from '#event-log';
import { approvalDigest, approvalOptions, capabilityProfileOf, type FileAccessDecision } from '#policy';
import { sha256Hex } from '#redis';
import type { CallLineage } from './child-call.service.js';

/** A JSON value above this many bytes lives beside the log, and the event tells where. */
export const INLINE_BYTES = 6_144;
const PREVIEW_BYTES = 1_024;
/** A call may end a little after its time. */
const SECRET_SLACK_MS = 600_000;

/** What every step before the log found out about a call. A call with a rejection ends where it starts. */
export interface EvaluatedCall {
  /** The name the caller used. */
  readonly requestedTool: string;
  /** Absent for a tool that does not exist. */
  readonly tool?: ToolDescriptor;
  readonly args: JsonValue;
  /** Why the model makes the call, in its own words. */
  readonly purpose?: string;
  readonly decision: Decision;
  /** There when the call may open other files than those of its workspace, or may not open all of them. */
  readonly files?: FileAccessDecision;
  /** Whose texts the call is answered in, and how much text the model gets; there where that differs from the defaults. */
  readonly profile?: PolicyProfile;
  readonly resultBytes?: number;
  /** There when hooks concern the call. */
  readonly hooks?: CallHooks;
  /** How often its session was deleted before; absent for never. */
  readonly sessionEpoch?: number;
  /** Digest of those that the worker runs, once they are stored. */
  readonly hookSet?: string;
  /** Events of those that ran before the call. */
  readonly hookRuns?: readonly HookRunData[];
  /** What those before the call said, for the model. */
  readonly hookFeedback?: string;
  /** `text` is for the model where it is not the error's message. */
  readonly rejection?: { readonly outcome: CallOutcome; readonly error: CallError; readonly text?: string };
}

/** Which hooks are asked about a call, and what they and their refusals need to know. */
export interface CallHooks {
  readonly applied: readonly AppliedHook[];
  readonly profile: PolicyProfile;
  readonly order: HookOrder;
  /** The workspace as workers know it. */
  readonly cwd: string;
}

/** What stands in for the facts of a tool that does not exist: such a call never runs. */
const NO_TOOL = {
  source: 'none',
  version: 'none',
  tier: 'privileged',
  effect: 'once',
  subjects: [],
  pool: 'read',
  timeoutMs: 1,
  retry: { maxAttempts: 1, backoffMs: 0, maxBackoffMs: 0 },
} as const satisfies Partial<ToolDescriptor>;

export interface NewCallInput {
  readonly callId: string;
  readonly principal: Principal;
  readonly body: SubmitCallBody;
  readonly evaluated: EvaluatedCall;
  readonly origin: EventOrigin;
  readonly traceparent?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly idempotency?: NewCall['idempotency'] | undefined;
  readonly replayOf?: string | undefined;
  readonly requesters?: readonly string[] | undefined;
  readonly resultBytes?: number | undefined;
  /** The arguments as submitted, when those of `judged` are redacted; the salt keeps secrets from being guessed by the digest. */
  readonly secret?: { readonly salt: string; readonly arguments: JsonValue } | undefined;
  /** Digest of the safety settings in force, unless they are the defaults. */
  readonly safety?: string | undefined;
  readonly batchId?: string | undefined;
  readonly lineage?: CallLineage | undefined;
  /** `files` of `judged`, its denials stored. */
  readonly files?: FileAccess | undefined;
  readonly config: CallDefaults;
}

/** What holds where neither the caller nor the tool says anything, and the cap on attempts. */
export interface CallDefaults {
  readonly defaultQueueMs: number;
  readonly defaultTotalMs: number;
  readonly approvalMs: number;
  readonly retryMaxAttempts: number;
}

/** The first transition of a call, with everything about it that will never change. Pure. */
export function newCall(input: NewCallInput): NewCall {
  const { callId, principal, body, evaluated: judged, origin: author, lineage: family, config } = input;
  const tool = judged.tool ?? NO_TOOL;
  const name = judged.tool?.name ?? judged.requestedTool;
  const argumentsText = JSON.stringify(judged.args);
  const bytes = Buffer.byteLength(argumentsText);
  const digest = approvalDigest(name, tool.version, input.secret ?? judged.args);
  const agentId = body.agentId ?? principal.agentId;
  const followUp = followUpOf(judged, digest, Math.min(config.approvalMs, family?.remainingMs ?? Infinity), body.sessionId !== undefined);
  const resultBytes = Math.min(input.resultBytes ?? Infinity, judged.resultBytes ?? Infinity);
  const {
    maxAttempts = tool.retry.maxAttempts,
    backoffMs = tool.retry.backoffMs,
    maxBackoffMs = tool.retry.maxBackoffMs,
  } = body.retry ?? {};

  const submitted: SubmittedData = {
    tool: name,
    ...(bytes > INLINE_BYTES
      ? { argumentsRef: { ref: 'arguments', sha256: sha256Hex(argumentsText), bytes, preview: cutPreview(argumentsText) } }
      : { arguments: judged.args }),
    source: tool.source,
    toolVersion: tool.version,
    argumentsDigest: digest,
    tier: tool.tier,
    effect: tool.effect,
    pool: tool.pool,
    priority: body.priority,
    timeouts: timeoutsOf(body, tool.timeoutMs, config, family),
    retry: { maxAttempts: Math.min(maxAttempts, config.retryMaxAttempts), backoffMs, maxBackoffMs },
    decision: judged.decision,
    labels: body.labels,
    ...(tool.subjects.length === 0 ? {} : { capabilityProfile: capabilityProfileOf(tool.subjects) }),
    ...(input.files === undefined ? {} : { files: input.files }),
    ...(name === judged.requestedTool ? {} : { requestedTool: judged.requestedTool }),
    ...(body.toolCallId === undefined ? {} : { toolCallId: body.toolCallId }),
    ...(judged.purpose === undefined ? {} : { purpose: judged.purpose }),
    ...(input.batchId === undefined ? {} : { batchId: input.batchId }),
    ...(family === undefined ? {} : { parentCallId: family.parentCallId, rootCallId: family.rootCallId, depth: family.depth }),
    ...(input.replayOf === undefined ? {} : { replayOf: input.replayOf }),
    ...(input.requesters === undefined ? {} : { requesters: [...input.requesters] }),
    ...(resultBytes === Infinity ? {} : { resultBytes }),
    ...(judged.profile === undefined ? {} : { profile: judged.profile }),
    ...(input.idempotencyKey === undefined ? {} : { idempotencyKey: input.idempotencyKey }),
    ...(judged.hookSet === undefined ? {} : { hooks: judged.hookSet }),
    ...(judged.hookFeedback === undefined ? {} : { hookFeedback: judged.hookFeedback }),
    ...(input.secret === undefined ? {} : { argumentsRedacted: true as const }),
    ...(input.safety === undefined ? {} : { safety: input.safety }),
    ...(judged.sessionEpoch === undefined ? {} : { sessionEpoch: judged.sessionEpoch }),
  };
  return {
    callId,
    meta: {
      tenantId: principal.tenantId,
      tool: name,
      ...(agentId === undefined ? {} : { agentId }),
      ...(body.sessionId === undefined ? {} : { sessionId: body.sessionId }),
      ...(input.traceparent === undefined ? {} : { traceparent: input.traceparent }),
    },
    submitted,
    ...(bytes > INLINE_BYTES ? { argumentsBlob: argumentsText } : {}),
    ...(input.secret === undefined || judged.rejection !== undefined
      ? {}
      : { secretArguments: { text: JSON.stringify(input.secret), ttlMs: submitted.timeouts.totalMs + SECRET_SLACK_MS } }),
    author,
    ...(input.idempotency === undefined ? {} : { idempotency: input.idempotency }),
    ...(judged.hookRuns === undefined ? {} : { hookRuns: judged.hookRuns }),
    ...(followUp === undefined ? {} : { followUp }),
  };
}

/** The End of a call that never ran; the model reads the error's message unless it gets a text of its own. */
export function endBeforeStart(outcome: CallOutcome, error: CallError, text = error.message): EndData {
  return { outcome, isError: true, error, result: { content: [{ type: 'text', text }], isError: true }, attempts: 0 };
}

function followUpOf({ rejection, decision }: EvaluatedCall, digest: string, approvalMs: number, inSession: boolean): NewCall['followUp'] {
  if (rejection !== undefined) return { kind: 'refused', data: endBeforeStart(rejection.outcome, rejection.error, rejection.text) };
  if (decision.effect !== 'ask') return undefined;
  const open = decision.reasons.filter(({ effect, satisfiedBy }) => effect === 'ask' && satisfiedBy === undefined);
  const trustOptions = inSession ? (decision.trustOptions ?? []) : [];
  const options = approvalOptions(inSession, trustOptions);
  return { kind: 'approval', data: { reasons: open.map(({ reason }) => reason), digest, expiresInMs: approvalMs, options, trustOptions } };
}

function timeoutsOf({ timeouts }: SubmitCallBody, toolMs: number, config: CallDefaults, family?: CallLineage): Timeouts {
  const most = family?.remainingMs ?? Infinity;
  return {
    queueMs: Math.min(timeouts.queueMs ?? config.defaultQueueMs, most),
    runMs: Math.min(timeouts.runMs ?? toolMs, most),
    totalMs: Math.min(timeouts.totalMs ?? config.defaultTotalMs, most),
  };
}

/** At most PREVIEW_BYTES of UTF-8, never half a character. */
function cutPreview(text: string): string {
  return new TextDecoder().decode(Buffer.from(text.slice(0, PREVIEW_BYTES)).subarray(0, PREVIEW_BYTES), { stream: true });
}
