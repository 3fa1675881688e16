import { SCOPES, type LoginSettings, type Principal } from '#contracts';
import { globMatches, listOfAny, listOfBoth } from '#patterns';

type Role = LoginSettings['roleMap'][string];
type Rights = Pick<Principal, 'scopes' | 'agents' | 'users' | 'tools'>;

/** Union of the rights of roles of one tenant. */
export function rightsOfRoles(roles: readonly Role[]): Rights {
  const agents = new Set(roles.flatMap((role) => role.agents ?? []));
  const users = new Set(roles.flatMap((role) => role.users ?? []));
  const scopes = new Set(roles.flatMap((role) => role.scopes));
  return {
    scopes: SCOPES.filter((scope) => scopes.has(scope)),
    ...(agents.size === 0 ? {} : { agents: [...agents] }),
    ...(users.size === 0 ? {} : { users: [...users] }),
    ...(roles.some(({ tools }) => tools === undefined) ? {} : { tools: listOfAny(roles.map(({ tools = [] }) => tools)) }),
  };
}

/** Principal with at most the rights of `most`. */
export function narrowRights(principal: Principal, most: Rights): Principal {
  const { scopes, agents, users, tools = most.tools } = principal;
  return {
    ...principal,
    scopes: scopes.filter((scope) => most.scopes.includes(scope)),
    ...(agents === undefined ? {} : { agents: inBoth(agents, most.agents ?? []) }),
    ...(users === undefined ? {} : { users: inBoth(users, most.users ?? []) }),
    ...(tools === undefined ? {} : { tools: inBoth(tools, most.tools ?? tools) }),
  };
}

/** Patterns allowed by both lists; partial overlaps are omitted. */
function inBoth(some: readonly string[], others: readonly string[]): string[] {
  return listOfBoth(some, others, covers);
}

function covers(positives: readonly string[], one: string): boolean {
  const isName = !/[*?]|^@/.test(one);
  return positives.some((pattern) => pattern === one || (isName && !pattern.startsWith('@') && globMatches(pattern, one)));
}
