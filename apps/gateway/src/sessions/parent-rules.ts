import type { SessionGrants } from '#contracts';
import { stricterPosture, type SessionState } from './session-state.js';

/**
 * State of a session that another one began: its own settings and those of the parent. Restrictions of both apply, and neither
 * lifts one of the other. If the parent was deleted since, nothing may run here. Pure.
 */
export function withParentRules(parent: SessionState, own: SessionState): SessionState {
  if (own.startedBy?.epoch !== parent.epoch) return { ...own, tools: [] };
  const tools = commonOf(parent.tools, own.tools);
  const hooks = union(parent.hooks, own.hooks);
  const userId = parent.userId ?? own.userId;
  const { chosenMode: _inPosture, ...set } = own;
  const { strategy, dialect, outputSchema } = parent;
  return {
    ...(strategy === undefined ? {} : { strategy }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...set,
    posture: stricterPosture(parent, own),
    ...(tools === undefined ? {} : { tools }),
    ...(userId === undefined ? {} : { userId }),
    ...(hooks.length === 0 ? {} : { hooks }),
    allowedTools: union(parent.allowedTools, own.allowedTools),
    grants: bothGrants(parent.grants, own.grants),
    changedBy: union(parent.changedBy, own.changedBy),
  };
}

/** Patterns in both lists. Partial overlaps of other patterns are ignored. */
function commonOf(one: readonly string[] | undefined, other: readonly string[] | undefined): string[] | undefined {
  if (one === undefined || other === undefined) return (one ?? other)?.slice();
  return other.filter((pattern) => one.includes(pattern));
}

function bothGrants(one: SessionGrants, other: SessionGrants): SessionGrants {
  const paths = (of: (grants: SessionGrants) => Paths | undefined) => ({
    read: union(of(one)?.read, of(other)?.read),
    write: union(of(one)?.write, of(other)?.write),
  });
  const deniedTools = union(one.deniedTools, other.deniedTools);
  return {
    deniedTools,
    trustedTools: union(one.trustedTools, other.trustedTools).filter((tool) => !deniedTools.includes(tool)),
    allowedPaths: paths((it) => it.allowedPaths),
    deniedPaths: paths((it) => it.deniedPaths),
    literalPaths: { allowed: paths((it) => it.literalPaths?.allowed), denied: paths((it) => it.literalPaths?.denied) },
    allowedCommands: union(one.allowedCommands, other.allowedCommands),
  };
}

interface Paths {
  readonly read: readonly string[];
  readonly write: readonly string[];
}

function union<T>(one: readonly T[] = [], other: readonly T[] = []): T[] {
  return [...new Set([...one, ...other])];
}
