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
   * What a program that was given `shown` means by its answer. A text or key that came back unchanged at its path is the
   * original one. A placeholder anywhere else is refused, also within a text that was changed.
   */
  restore(answer: Json): Restored;
}

/** Pure. */
export function maskSecrets(redactor: Redactor, value: Json): MaskedValue {
  const { secrets } = redactor.json(value);
  const by = redactor.withSecrets(secrets);
  // What is secret in one place is secret in all others.
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

/** `original` and `shown` are undefined below what the answer adds. */
function restored(redactor: Redactor, original: Json | undefined, shown: Json | undefined, answer: Json, pointer: string): Json {
  if (typeof answer === 'string') {
    if (original !== undefined && answer === shown) return original;
    if (answer.includes(REDACTED)) throw new MisplacedPlaceholder(pointer);
    return answer;
  }
  if (typeof answer !== 'object' || answer === null) return answer;
  if (Array.isArray(answer)) {
    const [before, masks] = [listOf(original), listOf(shown)];
    return answer.map((item, index) => restored(redactor, before[index], masks[index], item, `${pointer}/${index}`));
  }
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

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function fieldsOf(value: Json | undefined): Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
