import { isDeepStrictEqual } from 'node:util';
import type { ArgumentChange, JsonValue } from '#contracts';

/** Limits that keep the changes small next to the arguments in one event. */
const MOST_CHANGES = 20;
const MOST_BYTES = 1_500;
const VALUE_CHARACTERS = 120;

/** Differences between two sets of arguments, in the order of their keys. Requires redacted input: redacts nothing itself. Pure. */
export function argumentChanges(before: JsonValue, after: JsonValue): { changes: ArgumentChange[]; moreChanges?: number } {
  const all = changesAt('', before, after);
  const changes: ArgumentChange[] = [];
  let bytes = 0;
  for (const change of all.slice(0, MOST_CHANGES)) {
    bytes += Buffer.byteLength(JSON.stringify(change));
    if (bytes > MOST_BYTES) break;
    changes.push(change);
  }
  return { changes, ...(all.length > changes.length ? { moreChanges: all.length - changes.length } : {}) };
}

function changesAt(pointer: string, before: JsonValue | undefined, after: JsonValue | undefined): ArgumentChange[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after))
    return [{ pointer: cut(pointer), ...shown('before', before), ...shown('after', after) }];
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) =>
    changesAt(`${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, old.get(key), now.get(key)),
  );
}

function isContainer(value: JsonValue | undefined): value is Record<string, JsonValue> | JsonValue[] {
  return typeof value === 'object' && value !== null;
}

function shown(name: 'before' | 'after', value: JsonValue | undefined): Partial<ArgumentChange> {
  return value === undefined ? {} : { [name]: cut(JSON.stringify(value)) };
}

function cut(text: string): string {
  return text.length <= VALUE_CHARACTERS ? text : `${text.slice(0, VALUE_CHARACTERS - 1).toWellFormed()}…`;
}
