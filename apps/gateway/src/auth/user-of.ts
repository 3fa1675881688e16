import { ProblemError, type Principal } from '#contracts';
import { anyGlobMatches } from './tool-patterns.js';

/**
 * The user of a call: the one that the call names, else that of its key, else that of its session if the key may act for
 * it. Tools keep notes and facts apart by it, so a caller names only users that its key may act for.
 * @throws ProblemError `forbidden` for a user that the key may not act for, or that is not the user of the session
 */
export function userOf(principal: Principal, named: string | undefined, sessionUser?: string): string | undefined {
  const refusal = userRejection(principal, named);
  if (refusal !== undefined) throw refusal;
  const ofSession = userRejection(principal, sessionUser);
  const user = named ?? principal.userId ?? (ofSession === undefined ? sessionUser : undefined);
  // A key of certain users is kept to them, and does not leave them by naming none.
  if (user === undefined && principal.users !== undefined && ofSession !== undefined) throw foreignSession('the users of this key');
  if (user !== undefined && sessionUser !== undefined && user !== sessionUser) throw foreignSession(`the user ${user}`);
  return user;
}

function foreignSession(whose: string): ProblemError {
  return new ProblemError('forbidden', `The session is not that of ${whose}`, {
    errors: [{ pointer: '/userId', message: 'expected the user of the session' }],
  });
}

/** Why the key may not act for a user; undefined when it may, and for no user. */
export function userRejection({ keyId, userId, users = [] }: Principal, named: string | undefined): ProblemError | undefined {
  if (named === undefined || named === userId || anyGlobMatches(users, named)) return undefined;
  const may = [...(userId === undefined ? [] : [userId]), ...users].join(', ');
  return new ProblemError('forbidden', `The key ${keyId} may not act for the user ${named}; expected ${may || 'no userId'}`, {
    errors: [{ pointer: '/userId', message: `expected ${may || 'none'}` }],
  });
}

/**
 * Part of what recognises a repeated submission: one user is never answered with the call of another. A key that may act for
 * several users without naming one counts for itself, since its session decides. Undefined for a key of no user.
 */
export function userMark({ keyId, userId, users }: Principal, named: string | undefined): string | undefined {
  // Submissions to a release without users are recognised after the upgrade: the bootstrap key had no user there.
  if (keyId === 'bootstrap' && named === undefined) return undefined;
  const user = named ?? userId;
  if (user !== undefined) return `user:${user}`;
  return users === undefined ? undefined : `key:${keyId}`;
}
