import type { SessionOwner } from './session-owner.js';

/** A session of all its users, in all its lives until now. */
export type EndedSession = Pick<SessionOwner, 'tenantId' | 'sessionId'>;

/**
 * Announces sessions that were deleted, so that what is kept from one of their calls to the next ends with them. An
 * announcement may be missed: what is kept ends, too, when it was not used for a while. The class is the injection token.
 */
export class SessionEnds {
  private readonly listeners = new Set<(session: EndedSession) => void>();

  /** `listener` must not throw. */
  subscribe(listener: (session: EndedSession) => void): void {
    this.listeners.add(listener);
  }

  announce(session: EndedSession): void {
    for (const listener of this.listeners) listener(session);
  }
}
