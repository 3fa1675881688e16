import type { JsonSchema, JsonValue } from '#contracts';

export function isObject(value: JsonValue | undefined): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** The part of a schema that a reference within it leads to. */
export function partAt(root: JsonSchema, reference: string): JsonValue | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let part: JsonValue | undefined = root;
  for (const word of decoded(reference.slice(1)).split('/').slice(1)) {
    const key = word.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return undefined;
    part = Array.isArray(part) ? part[Number(key)] : part[key];
  }
  return part;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
