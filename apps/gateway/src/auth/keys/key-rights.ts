import { ProblemError, type KeyRights, type Principal } from '#contracts';
import { isNarrowerList } from '#patterns';
import { agentRejection } from '../agent-of.js';
import { issuerOfKeyId } from '../tokens/token-principal.js';
import { userRejection } from '../user-of.js';

/** Rights of a new key. Absent bounds come from the creator, except the agents that calls may name, whose absence is the bound. */
export function inheritedRights(creator: Principal, wanted: KeyRights): KeyRights {
  const expiresAt = wanted.expiresAt ?? expiryOf(creator);
  const users = wanted.users ?? (wanted.user === undefined ? creator.users : undefined);
  return {
    ...wanted,
    ...defined('tools', wanted.tools ?? creator.tools),
    ...defined('agent', wanted.agent ?? creator.agentId),
    ...defined('user', wanted.user ?? creator.userId),
    ...defined('users', users),
    ...defined('ratePerMinute', wanted.ratePerMinute ?? creator.ratePerMinute),
    ...defined('expiresAt', expiresAt),
  };
}

/**
 * Checks that a key has no more rights than its recipient. `defaultRate`: requests per minute of keys without a rate of their
 * own.
 * @throws ProblemError `forbidden` that names each right that the holder of `own` lacks
 */
export function assertNotWider(own: Principal, wanted: KeyRights, defaultRate: number): void {
  const errors = faults(own, wanted, defaultRate).map(([field, expected]) => ({ pointer: `/${field}`, message: `expected ${expected}` }));
  const [first] = errors;
  if (first === undefined) return;
  const detail = `The key may have no more rights than the requesting key ${own.keyId}: ${first.pointer.slice(1)}: ${first.message}`;
  throw new ProblemError('forbidden', detail, { errors });
}

function faults(own: Principal, wanted: KeyRights, defaultRate: number): (readonly [string, string])[] {
  const { scopes, tools, agent, agents = [], user, users, ratePerMinute, expiresAt } = wanted;
  const end = expiryOf(own);
  const ownRate = own.ratePerMinute ?? defaultRate;
  const isConfined = own.userId !== undefined || own.users !== undefined;
  const found: (readonly [string, string] | false)[] = [
    !scopes.every((scope) => own.scopes.includes(scope)) && ['scopes', `scopes of ${own.scopes.join(', ')}`],
    own.tools !== undefined &&
      (tools === undefined || !isNarrowerList(tools, own.tools)) && ['tools', `patterns of ${own.tools.join(', ')}`],
    (agent === undefined ? own.agentId !== undefined : agentRejection(own, agent) !== undefined) && [
      'agent',
      listed(own.agentId, own.agents),
    ],
    !agents.every((glob) => isCovered(glob, own.agents) || (isName(glob) && agentRejection(own, glob) === undefined)) && [
      'agents',
      listed(own.agentId, own.agents),
    ],
    userRejection(own, user) !== undefined && ['user', listed(own.userId, own.users)],
    !(users ?? []).every((glob) => isCovered(glob, own.users) || (isName(glob) && userRejection(own, glob) === undefined)) && [
      'users',
      listed(own.userId, own.users),
    ],
    isConfined && user === undefined && users === undefined && ['user', listed(own.userId, own.users)],
    (ratePerMinute ?? defaultRate) > ownRate && ['ratePerMinute', `at most ${ownRate}`],
    end !== undefined && (expiresAt === undefined || Date.parse(expiresAt) > Date.parse(end)) && ['expiresAt', `at latest ${end}`],
  ];
  return found.filter((fault) => fault !== false);
}

/** Expiry of the creator's key. None for a token, which expires within the hour, since its person creates keys for long-lived programs. */
function expiryOf({ keyId, expiresAt }: Principal): string | undefined {
  return issuerOfKeyId(keyId) === undefined ? expiresAt : undefined;
}

function isCovered(glob: string, own: readonly string[] = []): boolean {
  return own.includes('*') || own.includes(glob);
}

function isName(glob: string): boolean {
  return !/[*?]/.test(glob);
}

function listed(name: string | undefined, globs: readonly string[] = []): string {
  return [...(name === undefined ? [] : [name]), ...globs].join(', ') || 'none';
}

function defined<K extends string, V>(field: K, value: V | undefined): Partial<Record<K, V>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed name widens to string
  return (value === undefined ? {} : { [field]: value }) as Partial<Record<K, V>>;
}
