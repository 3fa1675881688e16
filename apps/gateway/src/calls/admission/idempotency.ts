import canonicalize from 'canonicalize';
import type { Principal, SubmitCallBody } from '#contracts';
import type { NewCall } from '#event-log';
import { sha256Hex } from '#redis';
import { repeaterMark } from '../../auth/repeater-mark.js';
import { userMark } from '../../auth/user-of.js';

export interface IdempotencyScope {
  /** Decides the partition: a session's calls stay together, and the same key always reaches the same place. Undefined = the call is its own root. */
  readonly rootId?: string;
  readonly idempotency?: NonNullable<NewCall['idempotency']>;
}

/** The key of a submission that the gateway makes. Never one of a caller's: those have no blanks. */
export function gatewayKey(...parts: readonly [kind: string, ...(readonly (string | number)[])]): string {
  return parts.join(' ');
}

/**
 * What recognises a submission that was made before. The scope of a key is (tenant, session or none); the two
 * kinds of key never meet: `ik:` is the caller's Idempotency-Key, `tc:` the model's own id of the call in its session.
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
  // A name that the gateway made names the submitter, too: it recognises its call after the rights of a key were changed.
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
