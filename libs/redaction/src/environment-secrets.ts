import { SecretNames } from './secrets/secret-names.js';

const SHORTEST_NAMED = 6;

/**
 * The secrets in the environment of a process: the variables that `named` lists, those that are named like secrets, and
 * passwords in URLs. Those that commands of tools see anyway (`visible`) are none. A value that looks like a
 * plain word is left out, unless its variable was listed.
 */
export function environmentSecrets(
  env: Readonly<Record<string, string | undefined>>,
  { named = [], visible = [] }: { readonly named?: readonly string[]; readonly visible?: readonly string[] },
): string[] {
  const names = new SecretNames();
  const found = Object.entries(env).flatMap(([name, value = '']) => {
    if (named.includes(name)) return value.length >= SHORTEST_NAMED ? [value] : [];
    if (visible.includes(name)) return [];
    return [...(names.has(name) && isDistinctive(value) ? [value] : []), ...passwordIn(value)];
  });
  return [...new Set(found)];
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
