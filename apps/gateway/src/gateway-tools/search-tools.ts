import type { ToolDescriptor } from '#contracts';

type Searched = Pick<ToolDescriptor, 'name' | 'aliases' | 'description'>;

const SCORE = { exact: 8, sameLetters: 12, inName: 4, inText: 2, inLetters: 3 } as const;

/** Names of the tools that match a query, best first. `select:a,b` names them; `+word` must occur. Pure. */
export function searchTools(tools: readonly Searched[], query: string, most: number): string[] {
  const [, picks] = /^\s*select:(.*)$/is.exec(query) ?? [];
  return (picks === undefined ? byWords(tools, query) : byName(tools, picks)).slice(0, most);
}

export function normalizedQuery(query: string): string {
  return query.trim().toLowerCase().replaceAll(/\s+/g, ' ');
}

function byName(tools: readonly Searched[], picks: string): string[] {
  const wanted = picks.split(',').map(letters);
  const found = wanted.flatMap((pick) => tools.find(({ name, aliases }) => [name, ...aliases].some((it) => letters(it) === pick)) ?? []);
  return [...new Set(found.map(({ name }) => name))];
}

function byWords(tools: readonly Searched[], query: string): string[] {
  const words = normalizedQuery(query)
    .split(' ')
    .filter((word) => word !== '' && word !== '+');
  const required = words.flatMap((word) => (word.startsWith('+') ? [word.slice(1)] : []));
  const terms = words.map((word) => word.replace(/^\+/, ''));
  return tools
    .filter((tool) => required.every((word) => textOf(tool).includes(word)))
    .map((tool) => ({ name: tool.name, score: terms.reduce((sum, term) => sum + score(tool, term), 0) }))
    .filter((it) => it.score > 0)
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

function score(tool: Searched, term: string): number {
  const names = [tool.name, ...tool.aliases].map((name) => name.toLowerCase());
  const text = textOf(tool);
  const plain = letters(term);
  let sum = 0;
  if (names.includes(term)) sum += SCORE.exact;
  if (plain !== '' && names.some((name) => letters(name) === plain)) sum += SCORE.sameLetters;
  if (names.some((name) => name.includes(term))) sum += SCORE.inName;
  if (text.includes(term)) sum += SCORE.inText;
  if (plain !== '' && letters(text).includes(plain)) sum += SCORE.inLetters;
  return sum;
}

function textOf({ name, aliases, description }: Searched): string {
  return [name, ...aliases, description].join(' ').toLowerCase();
}

/** Normalised name: `WebFetch`, `web_fetch` and `web-fetch` are equal. */
function letters(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}
