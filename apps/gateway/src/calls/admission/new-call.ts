import type {
  AgentBudget,
  CallError,
  CallOutcome,
  EndData,
  FileAccess,
  JsonValue,
  Principal,
  RetryPolicy,
  SubmitCallBody,
  SubmittedData,
  Timeouts,
  TokenRights,
  ToolDescriptor,
} from '#contracts';
import type { EventOrigin, NewCall } from '#event-log';
import { approvalDigest, approvalOptions, capabilityProfileOf } from '#policy';
import { sha256Hex } from '#redis';
import { issuerOfKeyId } from '../../auth/tokens/token-principal.js';
import type { CallLineage } from './child-call.service.js';
import type { EvaluatedCall } from './evaluated-call.js';

/** A JSON value above this many bytes is stored out of line, and the event refers to it. */
export const INLINE_BYTES = 6_144;
const PREVIEW_BYTES = 1_024;
/** Grace after the call's time, in milliseconds. */
export const SECRET_SLACK_MS = 600_000;

/** Stored facts of a tool that does not exist; its calls never run. */
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
  readonly startedBy?: string | undefined;
  readonly sampling?: true | undefined;
  readonly scheduleId?: string | undefined;
  readonly requesters?: readonly string[] | undefined;
  readonly resultBytes?: number | undefined;
  /** Submitted arguments if those of `evaluated` are redacted; the salt keeps secrets from being guessed by the digest. */
  readonly secret?: { readonly salt: string; readonly arguments: JsonValue } | undefined;
  /** Digest of the active redaction settings; undefined for the defaults. */
  readonly safety?: string | undefined;
  readonly batchId?: string | undefined;
  readonly agentBudget?: AgentBudget | undefined;
  readonly stageMs?: Record<string, number> | undefined;
  readonly lineage?: CallLineage | undefined;
  /** Host on which commands of the call run. Default: the worker. */
  readonly host?: string | undefined;
  /** Queue of the tool's source. Default: the queue of its pool. */
  readonly queue?: string | undefined;
  /** `files` of `evaluated`, with its denials stored. */
  readonly files?: FileAccess | undefined;
  /** Digest of `egress` of `evaluated`. */
  readonly egress?: string | undefined;
  readonly config: CallDefaults;
}

/** Default times where neither the caller nor the tool sets one, and the cap on attempts. */
export interface CallDefaults {
  readonly defaultQueueMs: number;
  readonly defaultTotalMs: number;
  readonly approvalMs: number;
  readonly retryMaxAttempts: number;
}

/**
 * First transition of a call: all its immutable facts. Absent members are `undefined`, which JSON omits: one literal is cheaper
 * than conditional spreads. Pure.
 */
export function newCall(input: NewCallInput): NewCall {
  const { callId, principal, body, evaluated, origin, lineage, secret, config } = input;
  const name = evaluated.tool?.name ?? evaluated.requestedTool;
  const digest = approvalDigest(name, (evaluated.tool ?? NO_TOOL).version, secret ?? evaluated.args);
  const argumentsText = JSON.stringify(evaluated.args);
  const submitted = submittedData(input, name, digest, argumentsText);
  const approvalMs = Math.min(config.approvalMs, lineage?.remainingMs ?? Infinity);
  return {
    callId,
    meta: {
      tenantId: principal.tenantId,
      tool: name,
      agentId: body.agentId ?? principal.agentId,
      sessionId: body.sessionId,
      traceparent: input.traceparent,
      parentCallId: lineage?.parentCallId,
    },
    submitted,
    argumentsBlob: submitted.argumentsRef === undefined ? undefined : argumentsText,
    secretArguments:
      secret === undefined || evaluated.rejection !== undefined
        ? undefined
        : { text: JSON.stringify(secret), ttlMs: submitted.timeouts.totalMs + SECRET_SLACK_MS },
    author: origin,
    idempotency: input.idempotency,
    hookRuns: evaluated.hookRuns,
    followUp: followUpOf(evaluated, digest, approvalMs, body.sessionId !== undefined),
  };
}

/** `name`: tool name as stored. `text`: arguments as JSON, stored separately if large. */
function submittedData(input: NewCallInput, name: string, digest: string, text: string): SubmittedData {
  const { principal, body, evaluated, lineage, secret, config } = input;
  const tool = evaluated.tool ?? NO_TOOL;
  const bytes = Buffer.byteLength(text);
  const isInline = bytes <= INLINE_BYTES;
  const resultBytes = Math.min(input.resultBytes ?? Infinity, evaluated.resultBytes ?? Infinity);
  return {
    tool: name,
    requestedTool: name === evaluated.requestedTool ? undefined : evaluated.requestedTool,
    source: tool.source,
    toolVersion: tool.version,
    arguments: isInline ? evaluated.args : undefined,
    argumentsRef: isInline ? undefined : { ref: 'arguments', sha256: sha256Hex(text), bytes, preview: cutPreview(text) },
    argumentsDigest: digest,
    stageMs: input.stageMs,
    acceptAt: undefined,
    argumentsRedacted: secret === undefined ? undefined : true,
    tier: tool.tier,
    effect: tool.effect,
    host: input.host,
    pool: tool.pool,
    queue: input.queue,
    priority: body.priority,
    timeouts: timeoutsOf(body, tool.timeoutMs, config, lineage),
    retry: retryOf(body, tool.retry, config),
    decision: evaluated.decision,
    labels: body.labels,
    purpose: evaluated.purpose,
    userId: evaluated.userId,
    toolCallId: body.toolCallId,
    submitter: issuerOfKeyId(principal.keyId) === undefined ? undefined : rightsOf(principal),
    idempotencyKey: input.idempotencyKey,
    batchId: input.batchId,
    parentCallId: lineage?.parentCallId,
    rootCallId: lineage?.rootCallId,
    depth: lineage?.depth,
    agentsAbove: lineage === undefined || lineage.agentsAbove === 0 ? undefined : lineage.agentsAbove,
    agentBudget: tool.pool === 'agent' ? input.agentBudget : undefined,
    replayOf: input.replayOf,
    startedBy: input.startedBy,
    sampling: input.sampling,
    scheduleId: input.scheduleId,
    requesters: input.requesters === undefined ? undefined : [...input.requesters],
    capabilityProfile: tool.subjects.length === 0 ? undefined : capabilityProfileOf(tool.subjects),
    files: input.files,
    egress: input.egress,
    resultBytes: resultBytes === Infinity ? undefined : resultBytes,
    resultTailBytes: evaluated.resultTailBytes,
    profile: evaluated.profile,
    dialect: evaluated.dialectForm?.dialect,
    dialectHints:
      evaluated.dialectForm === undefined || Object.keys(evaluated.dialectForm.hints).length === 0
        ? undefined
        : evaluated.dialectForm.hints,
    hooks: evaluated.hookSet,
    hookFeedback: evaluated.hookFeedback,
    safety: input.safety,
    sessionEpoch: evaluated.sessionEpoch,
  };
}

/** End of a call that never ran. `text`: text for the model. */
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

function timeoutsOf({ timeouts }: SubmitCallBody, toolMs: number, config: CallDefaults, lineage?: CallLineage): Timeouts {
  const most = lineage?.remainingMs ?? Infinity;
  return {
    queueMs: Math.min(timeouts.queueMs ?? config.defaultQueueMs, most),
    runMs: Math.min(timeouts.runMs ?? toolMs, most),
    totalMs: Math.min(timeouts.totalMs ?? config.defaultTotalMs, most),
  };
}

function retryOf({ retry }: SubmitCallBody, tool: RetryPolicy, { retryMaxAttempts }: CallDefaults): RetryPolicy {
  return {
    maxAttempts: Math.min(retry?.maxAttempts ?? tool.maxAttempts, retryMaxAttempts),
    backoffMs: retry?.backoffMs ?? tool.backoffMs,
    maxBackoffMs: retry?.maxBackoffMs ?? tool.maxBackoffMs,
  };
}

/** Cuts a text to PREVIEW_BYTES of UTF-8, never within a character. */
export function cutPreview(text: string): string {
  return new TextDecoder().decode(Buffer.from(text.slice(0, PREVIEW_BYTES)).subarray(0, PREVIEW_BYTES), { stream: true });
}

function rightsOf({ scopes, tools, agents, agentId, users, userId, person }: Principal): TokenRights {
  return { scopes, tools, agents, agentId, users, userId, person };
}
