import type { JsonValue } from '#contracts';

interface Shortened {
  readonly args: JsonValue;
  /** Names and values of what was left out, such as `persistent false`. */
  readonly defaults: readonly string[];
}

/**
 * Arguments without booleans and numbers that equal the default of the tool's schema. Keeps texts and values with several
 * fields, since an approval may depend on them.
 */
export function withoutDefaults(args: JsonValue, schema: unknown): Shortened {
  if (!isObject(args) || !isObject(schema) || !isObject(schema['properties'])) return { args, defaults: [] };
  const properties = schema['properties'];
  const isDefault = ([name, value]: [string, unknown]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return (typeof value === 'boolean' || typeof value === 'number') && isObject(property) && property['default'] === value;
  };
  const entries = Object.entries(args);
  return {
    args: Object.fromEntries(entries.filter((entry) => !isDefault(entry))),
    defaults: entries.filter(isDefault).map(([name, value]) => `${name} ${JSON.stringify(value)}`),
  };
}

function isObject<T>(value: T): value is T & Record<string, Exclude<T, null>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
