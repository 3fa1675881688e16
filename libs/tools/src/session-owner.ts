import type { ToolContext } from '#tool-sdk';

/** Owner of state that a worker stores between calls: one life of a session, for one user. */
export interface SessionOwner {
  readonly tenantId: string;
  readonly sessionId: string;
  /** A session of the same name that is made after a deletion is another one. */
  readonly sessionEpoch: number;
  readonly userId: string | undefined;
}

/** Undefined for a call without a session. */
export function sessionOwnerOf({ tenantId, sessionId, sessionEpoch = 0, userId }: ToolContext): SessionOwner | undefined {
  return sessionId === undefined ? undefined : { tenantId, sessionId, sessionEpoch, userId };
}

/** Different for different owners. */
export function ownerName({ tenantId, sessionId, sessionEpoch, userId }: SessionOwner): string {
  return JSON.stringify([tenantId, sessionId, sessionEpoch, userId ?? null]);
}
