import { distance } from 'fastest-levenshtein';

/** Variables that Kubernetes sets for services, possibly with the name of a program. */
const OF_SERVICES = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_\w+)$/;

/** Beginnings of names that no other program has. */
const OWN = /^(?:GATEWAY|WORKER|PROJECTOR|TOOLYARD)_/;

/**
 * Warnings about unread variables that differ by one or two letters from a variable of a program. Where that one is set, only
 * for names that belong to no other program. `known`: all names that are read.
 */
export function mistypedVariables(env: Readonly<Record<string, string | undefined>>, known: readonly string[]): string[] {
  const names = new Set(known);
  return Object.keys(env)
    .filter((name) => !names.has(name) && !OF_SERVICES.test(name))
    .flatMap((name) => {
      const meant = known.find((other) => isNear(name, other) && (!env[other] || OWN.test(name)));
      if (meant === undefined) return [];
      return [`The variable ${name} is not known: did you mean ${meant}${env[meant] ? ', which is set' : ''}? It has no effect as it is.`];
    })
    .toSorted();
}

/** True for similar names; short names differ by chance. */
function isNear(name: string, other: string): boolean {
  if (Math.abs(name.length - other.length) > 2) return false;
  return distance(name.toUpperCase(), other) <= (other.length < 8 ? 1 : 2);
}
