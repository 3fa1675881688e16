import type { Dialect as DialectName, PolicyProfile } from '#contracts';
import type { AnswerForm } from '#tool-sdk';
import { agentNamesOf } from './agent-names.js';
import type { Dialect } from './dialect.js';
import { LIST } from './list.js';

/** Every dialect but the canonical set, which needs no translation. */
const DIALECTS: ReadonlyMap<string, Dialect> = new Map(LIST.map((dialect) => [dialect.name, dialect]));

export function dialectOf(name: Exclude<DialectName, 'core'>): Dialect {
  const dialect = DIALECTS.get(name);
  if (dialect === undefined) throw new Error(`no file libs/dialects/src/*.dialect.ts has the dialect ${name}`);
  return dialect;
}

/** All of them. */
export function allDialects(): Dialect[] {
  return [...LIST];
}

const CANONICAL = new Set(allDialects().flatMap(({ tools }) => tools.flatMap(({ tool, means = [] }) => [tool, ...means])));

/** True for the name of a canonical tool that some dialect has. */
export function isCanonical(tool: string): boolean {
  return CANONICAL.has(tool);
}

const BY_PROFILE = new Map<PolicyProfile, Dialect>(allDialects().map((dialect) => [dialect.profile, dialect]));

/** Texts and sizes of the agent that a policy profile is named after; undefined where it has none of its own. */
export function answersOf(profile: PolicyProfile): AnswerForm | undefined {
  return BY_PROFILE.get(profile)?.answers;
}

/** The agent's own text for a denial by a hook; undefined if there is none. */
export function hookDenialOf(profile: PolicyProfile): Dialect['hookDenial'] {
  return BY_PROFILE.get(profile)?.hookDenial;
}

/** The names that rules may use for canonical tools besides their own. */
export const AGENT_NAMES = agentNamesOf(LIST);
