import { z } from 'zod';
import type { ToolStats } from '#contracts';
import { groupBy } from '../components/group-by.js';

export const ToolOrder = z.enum(['name', 'calls', 'failing', 'slow']);
export type ToolOrder = z.output<typeof ToolOrder>;

/** Tools by source; built-in ones come last. */
export function toolGroups<Tool extends { readonly source: string }>(tools: readonly Tool[]): [source: string, tools: Tool[]][] {
  return [...groupBy(tools, ({ source }) => source)].toSorted(([a], [b]) => Number(a === 'builtin') - Number(b === 'builtin'));
}

type Figures = Pick<ToolStats, 'calls' | 'errorRate'> & { readonly run: { readonly p95?: number | undefined } };

/** Tools of one source; ones without a call come last, by name. */
export function sortedTools<Tool extends { readonly name: string }>(
  tools: readonly Tool[],
  stats: ReadonlyMap<string, Figures>,
  order: ToolOrder,
): Tool[] {
  const figureOf = ({ name }: Tool): number => {
    const known = stats.get(name);
    if (known === undefined || order === 'name') return -1;
    return order === 'calls' ? known.calls : order === 'failing' ? known.errorRate : (known.run.p95 ?? -1);
  };
  return [...tools].sort((a, b) => figureOf(b) - figureOf(a) || a.name.localeCompare(b.name));
}
