import type { Dialect as DialectName } from '#contracts';
import type { Dialect } from './dialect.js';
import { zeroclaw } from './zeroclaw.dialect.js';

/** Every dialect but the canonical set, which needs no translation. */
const DIALECTS: Readonly<Record<Exclude<DialectName, 'core'>, Dialect>> = { zeroclaw };

export function dialectOf(name: Exclude<DialectName, 'core'>): Dialect {
  return DIALECTS[name];
}

/** All of them. */
export function allDialects(): Dialect[] {
  return Object.values(DIALECTS);
}
