import { SecretNames } from './secrets/secret-names.js';

const SHORTEST_NAMED = 6;
/** Variables of Toolyard whose values are secret despite their names. */
const OWN = ['METRICS_KEY'];

/**
 * Secrets in the environment of a process: variables listed in `named`, variables with names of secrets or listed in
 * HTTP_SECRETS, headers for collectors, and passwords in URLs. Excludes variables that commands of tools can read (`visible`),
 * and values that look like a plain word, unless listed.
 */
export function environmentSecrets(
  env: Readonly<Record<string, string | undefined>>,
  { named = [], visible = [] }: { readonly named?: readonly string[]; readonly visible?: readonly string[] },
): string[] {
  const names = new SecretNames();
  const listed = new Set([...named, ...OWN, ...namesOfJson(env['HTTP_SECRETS'])]);
  const found = Object.entries(env).flatMap(([name, value = '']) => {
    if (listed.has(name)) return value.length >= SHORTEST_NAMED ? [value] : [];
    if (visible.includes(name)) return [];
    if (/^OTEL_EXPORTER_OTLP_(?:\w+_)?HEADERS$/.test(name)) return headerValues(value);
    return [...(names.has(name) && isDistinctive(value) ? [value] : []), ...passwordIn(value)];
  });
  return [...new Set(found)];
}

function namesOfJson(text = '{}'): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? Object.keys(value) : [];
  } catch {
    return [];
  }
}

/** Values of `name=value,name=value`, which are percent-encoded. */
function headerValues(text: string): string[] {
  const values = text.split(',').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
  return values.flatMap((value) => [value, safeDecode(value)]).filter(isDistinctive);
}

function isDistinctive(value: string): boolean {
  return value.length >= 16 || (value.length >= 8 && /[^a-z]/i.test(value));
}

function passwordIn(value: string): string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/\s]*:[^/\s]*@/i.test(value) || !URL.canParse(value)) return [];
  const { password } = new URL(value);
  return [password, safeDecode(password)].filter(isDistinctive);
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
