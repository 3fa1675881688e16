import { LIMITS, type Violation } from '#contracts';
import { escapePointer } from './violations.js';

/** Keys with which a merge somewhere later could reach the prototype of every object. */
const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * A copy of a JSON value that belongs to nobody else. Keys that reach a prototype and nesting deeper than the platform
 * allows are left out of the copy and reported in `faults`; a copy with faults is of no further use.
 */
export function plainCopy(value: unknown, faults: Violation[], pointer = '', depth = 1): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > LIMITS.jsonDepth) {
    faults.push({ pointer, message: `nested deeper than ${LIMITS.jsonDepth} levels` });
    return undefined;
  }
  if (Array.isArray(value)) return value.map((item, index) => plainCopy(item, faults, `${pointer}/${index}`, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const here = `${pointer}/${escapePointer(key)}`;
    if (PROTOTYPE_KEYS.has(key)) faults.push({ pointer: here, message: `the name '${key}' is not allowed in arguments` });
    else copy[key] = plainCopy(item, faults, here, depth + 1);
  }
  return copy;
}
