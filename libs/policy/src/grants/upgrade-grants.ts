import type { SessionGrants } from '#contracts';
import { globOrFault, PatternError } from '#patterns';

/**
 * The grants of a session that was stored before names and globs were kept apart. Approvals then stored absolute names among
 * the globs. So an absolute allowance with wildcards is taken for the name of one file: at worst a person is asked again.
 * Denials stay globs, which also mean the name itself; one that is no glob is a name.
 */
export function upgradeGrants(grants: SessionGrants): SessionGrants {
  const { allowedPaths, deniedPaths } = grants;
  const isName = (path: string) => isAbsolute(path) && isSpecial(path);
  if (![...allowedPaths.read, ...allowedPaths.write, ...deniedPaths.read, ...deniedPaths.write].some(isName)) return grants;
  const isNoGlob = (path: string) => isAbsolute(path) && globOrFault(path) instanceof PatternError;
  return {
    ...grants,
    allowedPaths: without(allowedPaths, isName),
    deniedPaths: without(deniedPaths, isNoGlob),
    literalPaths: { allowed: only(allowedPaths, isName), denied: only(deniedPaths, isNoGlob) },
  };
}

type Paths = SessionGrants['allowedPaths'];

function only({ read, write }: Paths, test: (path: string) => boolean): Paths {
  return { read: read.filter(test), write: write.filter(test) };
}

function without(paths: Paths, test: (path: string) => boolean): Paths {
  return only(paths, (path) => !test(path));
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || path.startsWith('~');
}

function isSpecial(path: string): boolean {
  const glob = globOrFault(path);
  return glob instanceof PatternError || glob.size > 0;
}
