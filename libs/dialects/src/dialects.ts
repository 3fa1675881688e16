import type { Dialect as DialectName } from '#contracts';
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
