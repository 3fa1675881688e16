import type { SessionOwner } from './session-owner.js';

/** A session of all its users, in all its lives until now. */
export type EndedSession = Pick<SessionOwner, 'tenantId' | 'sessionId'>;

/**
 * Announces deleted sessions, so that state stored between their calls is released. Announcements may be lost: idle state is
 * also released by time. The class is the injection token.
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
