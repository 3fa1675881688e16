import { distance } from 'fastest-levenshtein';

/** Variables that Kubernetes sets for services, possibly with the name of a program. */
const OF_SERVICES = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_\w+)$/;

/**
 * Warnings about unread variables that differ by one or two letters from an unset variable of a program. `known`: all names
 * that are read.
 */
export function mistypedVariables(env: Readonly<Record<string, string | undefined>>, known: readonly string[]): string[] {
  const names = new Set(known);
  const missing = known.filter((name) => !env[name]);
  return Object.keys(env)
    .filter((name) => !names.has(name) && !OF_SERVICES.test(name))
    .flatMap((name) => {
      const meant = missing.find((other) => isNear(name, other));
      return meant === undefined ? [] : [`The variable ${name} is not known: did you mean ${meant}? It has no effect as it is.`];
    })
    .toSorted();
}

/** True for similar names; short names differ by chance. */
function isNear(name: string, other: string): boolean {
  if (Math.abs(name.length - other.length) > 2) return false;
  return distance(name.toUpperCase(), other) <= (other.length < 8 ? 1 : 2);
}
