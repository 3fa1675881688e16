import type { Dialect as DialectName, PolicyProfile } from '#contracts';
import type { AnswerForm } from '#tool-sdk';
import { claudeCode } from './claude-code.dialect.js';
import type { Dialect } from './dialect.js';
import { kiro } from './kiro.dialect.js';
import { oxydra } from './oxydra.dialect.js';
import { phi } from './phi.dialect.js';
import { zeroclaw } from './zeroclaw.dialect.js';

/** Every dialect but the canonical set, which needs no translation. */
const DIALECTS: Readonly<Record<Exclude<DialectName, 'core'>, Dialect>> = { 'claude-code': claudeCode, zeroclaw, phi, oxydra, kiro };

export function dialectOf(name: Exclude<DialectName, 'core'>): Dialect {
  return DIALECTS[name];
}

/** All of them. */
export function allDialects(): Dialect[] {
  return Object.values(DIALECTS);
}

const ANSWERS = new Map<PolicyProfile, AnswerForm | undefined>(allDialects().map(({ profile, answers }) => [profile, answers]));

/** Texts and sizes of the agent that a policy profile is named after; undefined where it has none of its own. */
export function answersOf(profile: PolicyProfile): AnswerForm | undefined {
  return ANSWERS.get(profile);
}
