import { ProblemError, type Principal } from '#contracts';
import { anyGlobMatches } from './tool-patterns.js';

/**
 * User of a call: the named one, else the key's, else the session's if the key may act for that user. Separates the notes and
 * facts of tools, so a caller names only users that its key may act for.
 * @throws ProblemError `forbidden` for a user that the key may not act for, or that is not the session's
 */
export function userOf(principal: Principal, named: string | undefined, sessionUser?: string): string | undefined {
  const refusal = userRejection(principal, named);
  if (refusal !== undefined) throw refusal;
  const ofSession = userRejection(principal, sessionUser);
  const user = named ?? principal.userId ?? (ofSession === undefined ? sessionUser : undefined);
  // A key limited to certain users must not bypass the limit by naming none.
  if (user === undefined && principal.users !== undefined && ofSession !== undefined) throw foreignSession('the users of this key');
  if (user !== undefined && sessionUser !== undefined && user !== sessionUser) throw foreignSession(`the user ${user}`);
  return user;
}

function foreignSession(whose: string): ProblemError {
  return new ProblemError('forbidden', `The session is not that of ${whose}`, {
    errors: [{ pointer: '/userId', message: 'expected the user of the session' }],
  });
}

/** Rejection of a user that the key may not act for; undefined for any other, and for none. */
export function userRejection({ keyId, userId, users = [] }: Principal, named: string | undefined): ProblemError | undefined {
  if (named === undefined || named === userId || anyGlobMatches(users, named)) return undefined;
  const may = [...(userId === undefined ? [] : [userId]), ...users].join(', ');
  return new ProblemError('forbidden', `The key ${keyId} may not act for the user ${named}; expected ${may || 'no userId'}`, {
    errors: [{ pointer: '/userId', message: `expected ${may || 'none'}` }],
  });
}

/**
 * Part of the identity of a repeated submission: no user gets the call of another one. A key that may act for several users
 * counts by itself if it names none, since its session decides. Undefined for a key without a user.
 */
export function userMark({ keyId, userId, users }: Principal, named: string | undefined): string | undefined {
  // Omits the bootstrap key's user, which earlier releases lacked, so that their submissions are recognised after the upgrade.
  if (keyId === 'bootstrap' && named === undefined) return undefined;
  const user = named ?? userId;
  if (user !== undefined) return `user:${user}`;
  return users === undefined ? undefined : `key:${keyId}`;
}
