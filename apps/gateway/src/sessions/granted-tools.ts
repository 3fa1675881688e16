import { ProblemError, type SessionGrants, type Violation } from '#contracts';
import { grantedName, parseName } from '#policy';
import type { ToolView } from '#tool-sdk';

type Tools = Pick<ToolView, 'resolve' | 'suggest'>;

const LISTS = ['trustedTools', 'deniedTools'] as const;

/**
 * The grants with the names that grants have in place of other names of tools. Throws a ProblemError for names that no tool has:
 * who misspells the tool that they deny would believe it denied. What the session has already may be said again. Pure.
 */
export function withKnownTools(grants: SessionGrants, before: SessionGrants, tools: Tools): SessionGrants {
  const errors: Violation[] = [];
  const known = LISTS.map((list) =>
    grants[list].flatMap((name, index) => {
      const canonical = nameOf(name, tools) ?? (before[list].includes(name) ? name : undefined);
      if (canonical !== undefined) return canonical;
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

/** `@source/name` is said again as it is, if it is the name of one tool. */
function nameOf(said: string, tools: Tools): string | undefined {
  const written = parseName(said);
  const qualified = written.kind === 'source' ? `${written.source}__${written.name ?? ''}` : said;
  const found = tools.resolve(said) ?? tools.resolve(qualified);
  return found === undefined ? undefined : grantedName(found);
}
