import { ProblemError, type SessionGrants, type Violation } from '#contracts';
import { AGENT_NAMES } from '#dialects';
import { grantedName, parseName } from '#policy';
import type { ToolView } from '#tool-sdk';

type Tools = Pick<ToolView, 'resolve' | 'suggest'>;

const LISTS = ['trustedTools', 'deniedTools'] as const;

/**
 * Grants with canonical tool names. Throws a ProblemError for unknown names: a misspelt denial would deny nothing. Names
 * already granted in the session are accepted. A name from a known agent's dialect is denied as every tool that it means there,
 * and trusted only if all dialects mean one tool. Pure.
 */
export function withKnownTools(grants: SessionGrants, before: SessionGrants, tools: Tools): SessionGrants {
  const errors: Violation[] = [];
  const known = LISTS.map((list) =>
    grants[list].flatMap((name, index) => {
      const canonical = [...namesOf(name, tools, list)];
      if (canonical.length > 0) return canonical;
      if (before[list].includes(name)) return name;
      const near = tools.suggest(name);
      const hint = near.length > 0 ? `; did you mean ${near.join(', ')}?` : '; GET /v1/tools lists those there are';
      errors.push({ pointer: `/grants/${list}/${index}`, message: `No tool is called ${JSON.stringify(name)}${hint}` });
      return [];
    }),
  );
  if (errors.length > 0) throw new ProblemError('invalid_request', errors.map(({ message }) => message).join('; '), { errors });
  const [trustedTools = [], deniedTools = []] = known.map((names) => [...new Set(names)]);
  return { ...grants, trustedTools, deniedTools };
}

function namesOf(pattern: string, tools: Tools, list: (typeof LISTS)[number]): Set<string> {
  const own = nameOf(pattern, tools);
  const name = pattern.startsWith('@builtin/') ? pattern.slice('@builtin/'.length) : pattern;
  const one = own === undefined ? AGENT_NAMES.meaning(name) : undefined;
  const agentNames = list === 'deniedTools' ? AGENT_NAMES.meanings(name) : one === undefined ? [] : [one];
  return new Set([...(own === undefined ? [] : [own]), ...agentNames.flatMap((tool) => nameOf(tool, tools) ?? [])]);
}

/** Canonical name of a tool; also for `@source/name`, if it names one tool. */
function nameOf(pattern: string, tools: Tools): string | undefined {
  const written = parseName(pattern);
  const qualified = written.kind === 'source' ? `${written.source}__${written.name ?? ''}` : pattern;
  const found = tools.resolve(pattern) ?? tools.resolve(qualified);
  return found === undefined ? undefined : grantedName(found);
}
