import canonicalize from 'canonicalize';
import type { Principal, SubmitCallBody } from '#contracts';
import type { NewCall } from '#event-log';
import { sha256Hex } from '#redis';
import { repeaterMark } from '../../auth/repeater-mark.js';
import { userMark } from '../../auth/user-of.js';

export interface IdempotencyScope {
  /**
   * Selects the partition: calls of a session stay together, and the same key always reaches the same partition. Undefined: the
   * call is its own root.
   */
  readonly rootId?: string;
  readonly idempotency?: NonNullable<NewCall['idempotency']>;
}

/** Idempotency key of a submission by the gateway. Has blanks, so it never equals a caller's key. */
export function gatewayKey(...parts: readonly [kind: string, ...(readonly (string | number)[])]): string {
  return parts.join(' ');
}

/**
 * Identity by which a repeated submission is recognised. The scope of a key is the tenant and, if present, the session; the two
 * kinds of key never collide: `ik:` is the caller's Idempotency-Key, `tc:` the model's own id of the call in its session.
 */
export function idempotencyScope(
  principal: Principal,
  body: SubmitCallBody,
  idempotencyKey: string | undefined,
  replayOf?: string,
): IdempotencyScope {
  const { sessionId, toolCallId } = body;
  const key =
    idempotencyKey !== undefined
      ? `ik:${idempotencyKey}`
      : sessionId !== undefined && toolCallId !== undefined
        ? `tc:${toolCallId}`
        : undefined;
  if (key === undefined) return sessionId === undefined ? {} : { rootId: sessionId };
  // A key made by the gateway also marks the submitting user, so that it matches its call after the key's rights have changed.
  const isGatewayMade = idempotencyKey?.includes(' ') === true;
  const mark = isGatewayMade ? { user: userMark(principal, body.userId) } : repeaterMark(principal, body);
  return {
    rootId: sessionId ?? `k:${sha256Hex(key)}`,
    idempotency: {
      scopedKey: `${sessionId ?? ''}/${key}`,
      requestSha256: sha256Hex(canonicalize({ body, replayOf, ...mark }) ?? ''),
    },
  };
}
