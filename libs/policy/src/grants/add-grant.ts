import type { GrantChange, SessionGrants, TrustOption } from '#contracts';
import { BUILTIN } from '../patterns/tool-pattern.js';
import { printName } from '../patterns/name-parts.js';

/**
 * The grants of a session with what a person chose added. Paths of a choice are names, so they go to `literalPaths`, whatever
 * characters they have. Twice the same changes nothing; the latest word on a tool holds.
 */
export function addGrant(grants: SessionGrants, { grants: change }: Pick<TrustOption, 'grants'>): SessionGrants {
  const trusted = change.trustedTools ?? [];
  const denied = change.deniedTools ?? [];
  const literalPaths = withPaths(grants.literalPaths, change);
  return {
    ...grants,
    trustedTools: union(grants.trustedTools, trusted).filter((it) => !denied.includes(it)),
    deniedTools: union(
      grants.deniedTools.filter((it) => !trusted.includes(it)),
      denied,
    ),
    ...(literalPaths === undefined ? {} : { literalPaths }),
    allowedCommands: union(grants.allowedCommands, change.allowedCommands),
  };
}

type LiteralPaths = SessionGrants['literalPaths'];
const NO_PATHS: Exclude<LiteralPaths, undefined> = { allowed: { read: [], write: [] }, denied: { read: [], write: [] } };

function withPaths(paths: LiteralPaths, { allowedPaths, deniedPaths }: GrantChange): LiteralPaths {
  if (allowedPaths === undefined && deniedPaths === undefined) return paths;
  const { allowed, denied } = paths ?? NO_PATHS;
  return {
    allowed: { read: union(allowed.read, allowedPaths?.read), write: union(allowed.write, allowedPaths?.write) },
    denied: { read: union(denied.read, deniedPaths?.read), write: union(denied.write, deniedPaths?.write) },
  };
}

/** "Always": every later call of the tool in this session runs without asking. */
export function alwaysAllow(tool: GrantedTool): GrantChange {
  return { trustedTools: [grantedName(tool)] };
}

/** "Never": every later call of the tool in this session is denied. */
export function neverAllow(tool: GrantedTool): GrantChange {
  return { deniedTools: [grantedName(tool)] };
}

export interface GrantedTool {
  readonly name: string;
  readonly source: string;
}

/**
 * Name of a tool in grants: `@source/name` for a tool of a source, since a short name may pass to another source's tool after
 * removal.
 */
export function grantedName({ name, source }: GrantedTool): string {
  if (source === BUILTIN) return name;
  const prefix = `${source}__`;
  return printName({ kind: 'source', source, name: name.startsWith(prefix) ? name.slice(prefix.length) : name });
}

function union(present: readonly string[], more: readonly string[] = []): string[] {
  return [...new Set([...present, ...more])];
}
