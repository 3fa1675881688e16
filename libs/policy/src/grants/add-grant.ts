import { SessionGrants, type GrantChange, type TrustOption } from '#contracts';

/** The grants of a session with what a person chose added. Twice the same changes nothing; the latest word on a tool holds. */
export function addGrant(grants: SessionGrants, { grants: change }: Pick<TrustOption, 'grants'>): SessionGrants {
  const trusted = change.trustedTools ?? [];
  const denied = change.deniedTools ?? [];
  return SessionGrants.parse({
    trustedTools: union(grants.trustedTools, trusted).filter((it) => !denied.includes(it)),
    deniedTools: union(
      grants.deniedTools.filter((it) => !trusted.includes(it)),
      denied,
    ),
    allowedPaths: {
      read: union(grants.allowedPaths.read, change.allowedPaths?.read),
      write: union(grants.allowedPaths.write, change.allowedPaths?.write),
    },
    deniedPaths: {
      read: union(grants.deniedPaths.read, change.deniedPaths?.read),
      write: union(grants.deniedPaths.write, change.deniedPaths?.write),
    },
    allowedCommands: union(grants.allowedCommands, change.allowedCommands),
  });
}

/** "Always": every later call of the tool in this session runs without asking. */
export function alwaysAllow(tool: { readonly name: string }): GrantChange {
  return { trustedTools: [tool.name] };
}

/** "Never": every later call of the tool in this session is denied. */
export function neverAllow(tool: { readonly name: string }): GrantChange {
  return { deniedTools: [tool.name] };
}

function union(present: readonly string[], more: readonly string[] = []): string[] {
  return [...new Set([...present, ...more])];
}
