import { distance } from 'fastest-levenshtein';
import type { ToolDescriptor } from '#contracts';
import { UsageError } from './usage-error.js';

/** Error for an unknown tool name, with the nearest name if there is one. `known`: all tools of the key. */
export function unknownTool(name: string, known: readonly Pick<ToolDescriptor, 'name' | 'aliases'>[]): UsageError {
  const far = Math.max(2, Math.floor(name.length / 3));
  const [nearest] = known
    .flatMap((tool) => [tool.name, ...tool.aliases])
    .map((other) => ({ other, by: distance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ by }) => by <= far)
    .toSorted((a, b) => a.by - b.by);
  const hint = nearest === undefined ? '`toolyard tools` lists them' : `did you mean ${nearest.other}?`;
  return new UsageError(`There is no tool ${JSON.stringify(name)} for this key; ${hint}`);
}
