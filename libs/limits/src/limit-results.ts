import type { CallErrorCode, DecisionReason } from '#contracts';
import type { LimitCheck } from './limit-checks.js';

/** `Retry-After` for an unknown time: a place is free after any call ends. */
const RETRY_AFTER_MS = 1_000;

/** Result of a limit for a call. */
export interface LimitResult {
  readonly reason: DecisionReason;
  /** Present if the limit rejects the call. */
  readonly rejection?: LimitRejection;
}

export interface LimitRejection {
  readonly code: CallErrorCode;
  readonly message: string;
  /** Milliseconds until a retry may pass; absent if none can. */
  readonly retryAfterMs?: number;
}

/** Result of a counted limit. `count`: other calls in it; `waitMs`: time until a place is free (0: unknown). */
export function countedResult(check: LimitCheck, count: number, waitMs: number): LimitResult {
  const { rule, scopeLabel, calls } = check;
  const fill = `${count} of ${calls} ${unitOf(check)} of ${scopeLabel}`;
  if (count < calls) return { reason: { axis: 'limits', rule, effect: 'allow', reason: `${fill} before this call` } };

  const forGood = check.kind === 'total' || calls === 0;
  const retryAfterMs = forGood ? undefined : waitMs > 0 ? waitMs : RETRY_AFTER_MS;
  const when =
    retryAfterMs === undefined
      ? ''
      : waitMs > 0
        ? `; the next is possible in ${seconds(waitMs)} s`
        : '; the next is possible when one of them ends';
  const message = check.kind === 'window' ? `Rate limit exceeded: ${fill}${when}` : `Quota exceeded: ${fill}${when}`;
  return rejected(rule, {
    code: check.kind === 'window' ? 'rate_limited' : 'quota_exceeded',
    message,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Result of the limit of arguments; `bytes`: their size as JSON. */
export function argumentBytesResult(bytes: number, limit: number): LimitResult {
  if (bytes <= limit)
    return {
      reason: { axis: 'limits', rule: 'argument-bytes', effect: 'allow', reason: `the arguments are ${bytes} of at most ${limit} bytes` },
    };
  return rejected('argument-bytes', {
    code: 'payload_too_large',
    message: `Arguments too large: they are ${bytes} bytes of JSON, expected at most ${limit}`,
  });
}

/** Result of the limit of depth; `depth`: levels of the call below the root of its tree. */
export function treeDepthResult(depth: number, limit: number): LimitResult {
  const place = `the depth of the call in its tree is ${depth}, at most ${limit} is allowed`;
  if (depth <= limit) return { reason: { axis: 'limits', rule: 'tree-depth', effect: 'allow', reason: place } };
  return rejected('tree-depth', { code: 'quota_exceeded', message: `Quota exceeded: ${place}` });
}

export function queueDepthResult(pool: string, waiting: number, limit: number): LimitResult {
  const fill = `${waiting} calls wait in pool ${pool}, at most ${limit} may`;
  if (waiting < limit) return { reason: { axis: 'limits', rule: 'queue-depth', effect: 'allow', reason: fill } };
  return rejected('queue-depth', { code: 'unavailable', message: `No capacity: ${fill}`, retryAfterMs: RETRY_AFTER_MS });
}

/** Result of the limit of costs, which states that costs are not counted yet. */
export function costResult(cents: number): LimitResult {
  return {
    reason: {
      axis: 'limits',
      rule: 'cost',
      effect: 'allow',
      reason: `${cents} cents a day are set; no tool reports costs, so none are counted`,
    },
  };
}

function rejected(rule: string, refusal: LimitRejection): LimitResult {
  return { reason: { axis: 'limits', rule, effect: 'deny', reason: refusal.message }, rejection: refusal };
}

function unitOf({ rule, ms }: LimitCheck): string {
  switch (rule) {
    case 'actions':
      return 'actions in the last hour';
    case 'rate':
      return `calls in the last ${seconds(ms)} s`;
    case 'concurrency':
      return 'calls that have not ended';
    case 'tree-calls':
      return 'calls';
    default:
      return rule satisfies never;
  }
}

function seconds(ms: number): string {
  return String(Math.ceil(ms / 100) / 10);
}
