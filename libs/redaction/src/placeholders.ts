import { isDeepStrictEqual } from 'node:util';
import type { Json } from './json-value.js';
import type { Redactor } from './redactor.js';
import { REDACTED } from './secrets/secret-match.js';

/** `pointer` (RFC 6901): where there is a placeholder that names no secret. */
export type Restored = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly pointer: string };

/** A value with placeholders in place of its secrets, and the way back. */
export interface MaskedValue {
  /** The very same value when it holds no secrets. */
  readonly masked: Json;
  /**
   * Original form of a program's answer to `shown`. A text or key that is unchanged at its path becomes the original one.
   * Rejects a placeholder at any other place, including one in a changed text. Items of a list have no identifying name: the
   * answer contains either none of its placeholders, or all items that have one, unchanged and in place.
   */
  restore(answer: Json): Restored;
}

/** Pure. */
export function maskSecrets(redactor: Redactor, value: Json): MaskedValue {
  const { secrets } = redactor.json(value);
  const by = redactor.withSecrets(secrets);
  // A value that is secret in one place is secret in all others.
  const shown = secrets.length === 0 ? value : by.json(value).value;
  return {
    masked: shown,
    restore: (answer) => {
      try {
        return { ok: true, value: restored(by, value, shown, answer, '') };
      } catch (error) {
        if (error instanceof MisplacedPlaceholder) return { ok: false, pointer: error.pointer };
        throw error;
      }
    },
  };
}

class MisplacedPlaceholder extends Error {
  constructor(readonly pointer: string) {
    super(`A placeholder names no secret at ${pointer}`);
  }
}

/** `original` and `shown` are undefined below additions of the answer. */
function restored(redactor: Redactor, original: Json | undefined, shown: Json | undefined, answer: Json, pointer: string): Json {
  if (typeof answer === 'string') {
    if (original !== undefined && answer === shown) return original;
    if (answer.includes(REDACTED)) throw new MisplacedPlaceholder(pointer);
    return answer;
  }
  if (typeof answer !== 'object' || answer === null) return answer;
  if (Array.isArray(answer)) return restoredList(redactor, listOf(original), listOf(shown), answer, pointer);
  const [before, masks] = [fieldsOf(original), fieldsOf(shown)];
  const names = new Map([...(redactor.redactedKeys(before) ?? [])].map(([key, name]) => [name, key]));
  const fields = Object.entries(answer).map(([name, field]): [string, Json] => {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const key = names.get(name) ?? name;
    const known = Object.hasOwn(before, key);
    if (!known && name.includes(REDACTED)) throw new MisplacedPlaceholder(at);
    return [key, restored(redactor, known ? before[key] : undefined, known ? masks[name] : undefined, field, at)];
  });
  return Object.fromEntries(fields);
}

function restoredList(
  redactor: Redactor,
  original: readonly Json[],
  shown: readonly Json[],
  answer: readonly Json[],
  pointer: string,
): Json[] {
  const isBack = (mask: Json, index: number) => isDeepStrictEqual(answer[index], mask);
  const list = answer.map((item, index) => {
    const [before, mask] = [original[index], shown[index]];
    if (before !== undefined && mask !== undefined && isBack(mask, index)) return before;
    return restored(redactor, undefined, undefined, item, `${pointer}/${index}`);
  });
  const first = answer.findIndex(hasPlaceholder);
  if (first >= 0 && !shown.every((mask, index) => !hasPlaceholder(mask) || isBack(mask, index)))
    throw new MisplacedPlaceholder(`${pointer}/${first}`);
  return list;
}

function hasPlaceholder(value: Json): boolean {
  return JSON.stringify(value).includes(REDACTED);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function fieldsOf(value: Json | undefined): Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
