import { LIMITS, type Violation } from '#contracts';
import { escapePointer } from './violations.js';

const HALF_CHARACTER = 'holds half of a character: expected both halves of a surrogate pair such as \\ud83d\\ude00';

/**
 * A copy of a JSON value that shares nothing with the original. Keys that reach a prototype, nesting deeper than the platform
 * allows, halves of characters and numbers beyond a double (neither has a canonical form, RFC 8785) are left out of the
 * copy and reported in `faults`; a copy with faults is of no further use.
 */
export function cloneJson(value: unknown, faults: Violation[], pointer = '', depth = 1): unknown {
  if (typeof value !== 'object' || value === null) {
    const fault = faultOf(value);
    if (fault !== undefined) faults.push({ pointer, message: fault });
    return value;
  }
  if (depth > LIMITS.jsonDepth) {
    faults.push({ pointer, message: `nested deeper than ${LIMITS.jsonDepth} levels` });
    return undefined;
  }
  if (Array.isArray(value)) return value.map((item, index) => cloneItem(item, faults, pointer, index, depth));
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const item: unknown = Reflect.get(value, key);
    if (reachesPrototype(key, item))
      faults.push({ pointer: within(pointer, key), message: `the name '${key}' is not allowed in arguments` });
    else if (!key.isWellFormed()) faults.push({ pointer: within(pointer, key).toWellFormed(), message: HALF_CHARACTER });
    else copy[key] = cloneItem(item, faults, pointer, key, depth);
  }
  return copy;
}

/** Most items are no containers and right: of those no pointer is made. */
function cloneItem(item: unknown, faults: Violation[], pointer: string, key: string | number, depth: number): unknown {
  const isLeaf = typeof item !== 'object' || item === null;
  return isLeaf && faultOf(item) === undefined ? item : cloneJson(item, faults, within(pointer, key), depth + 1);
}

function within(pointer: string, key: string | number): string {
  return `${pointer}/${escapePointer(String(key))}`;
}

/** True if a later merge could reach the prototype of every object through this member. A member may be named `constructor`. */
function reachesPrototype(key: string, item: unknown): boolean {
  if (key === '__proto__') return true;
  return key === 'constructor' && typeof item === 'object' && item !== null && Object.hasOwn(item, 'prototype');
}

function faultOf(value: unknown): string | undefined {
  if (typeof value === 'string' && !value.isWellFormed()) return HALF_CHARACTER;
  if (typeof value === 'number' && !Number.isFinite(value)) return 'is a number that is too large: expected at most 1.7976931348623157e308';
  return undefined;
}
