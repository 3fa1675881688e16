import { POLICY_PROFILES, type PolicyConfig, type PolicySettings, type TrustedPaths } from '#contracts';
import { mergedToolsSettings } from './tool-settings.js';

/**
 * Complete policy from several settings, each later one on top of the earlier (those of all agents, then the agent's). Missing
 * fields come from the last named profile. Forbidding lists are combined, so that later settings only forbid more; all other
 * fields are replaced.
 */
export function resolvePolicy(...settings: readonly (PolicySettings | undefined)[]): PolicyConfig {
  const given = settings.filter((it) => it !== undefined);
  const profile = given.findLast((it) => it.profile !== undefined)?.profile ?? 'core';
  const base = POLICY_PROFILES[profile];
  const all = <T>(pick: (it: PolicySettings) => readonly T[] | undefined, otherwise: readonly T[]): T[] => [
    ...sum(given.map(pick), otherwise),
  ];
  return {
    ...base,
    ...merged(given),
    profile,
    exclude: all((it) => it.exclude, base.exclude),
    toolsSettings: mergedToolsSettings([base.toolsSettings, ...given.map((it) => it.toolsSettings)]),
    execution: { ...base.execution, ...merged(given.map((it) => it.execution)) },
    commands: {
      ...base.commands,
      ...merged(given.map((it) => it.commands)),
      deniedCommands: all((it) => it.commands?.deniedCommands, base.commands.deniedCommands),
      denyPatterns: all((it) => it.commands?.denyPatterns, base.commands.denyPatterns),
    },
    paths: {
      ...base.paths,
      ...merged(given.map((it) => it.paths)),
      forbidden: all((it) => it.paths?.forbidden, base.paths.forbidden),
      roots: roots(given, base),
      trusted: trusted(given, base),
    },
    egress: {
      ...base.egress,
      ...merged(given.map((it) => it.egress)),
      blockedDomains: all((it) => it.egress?.blockedDomains, base.egress.blockedDomains),
    },
  };
}

/** The last list of roots, and every root that an earlier one denies. */
function roots(given: readonly PolicySettings[], base: PolicyConfig): PolicyConfig['paths']['roots'] {
  const lists = given.flatMap((it) => (it.paths?.roots === undefined ? [] : [it.paths.roots]));
  const denied = lists.slice(0, -1).flatMap((list) => list.filter(({ access }) => access === 'denied'));
  return [...denied, ...(lists.at(-1) ?? base.paths.roots)];
}

/** Trusted globs of the last list, and denials of all earlier ones. */
function trusted(given: readonly PolicySettings[], base: PolicyConfig): TrustedPaths[] {
  const lists = given.flatMap((it) => (it.paths?.trusted === undefined ? [] : [it.paths.trusted]));
  const denied = lists.slice(0, -1).flatMap((list) => list.map((it) => ({ ...it, allowed: [] })));
  return [...denied, ...(lists.at(-1) ?? base.paths.trusted)];
}

function sum<T>(lists: readonly (readonly T[] | undefined)[], otherwise: readonly T[]): readonly T[] {
  const said = lists.filter((it) => it !== undefined);
  return said.length === 0 ? otherwise : [...new Set(said.flat())];
}

/** The later part's fields over the earlier one's; a field that is there and undefined hides nothing. */
function merged<T extends object>(parts: readonly (T | undefined)[]): Partial<T> {
  const all: Partial<T> = {};
  for (const part of parts) {
    for (const field in part) if (part[field] !== undefined) all[field] = part[field];
  }
  return all;
}
