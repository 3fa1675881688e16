import type { Stats } from 'node:fs';
import { globMatches } from '#patterns';
import { listTreeByTime, resolveFile } from '#sandbox';
import type { ToolContext } from '#tool-sdk';
import type { ReadFile } from './read-file.js';

const MOST_ENTRIES = 1_000;

export interface FolderRequest {
  readonly path: string;
  readonly max_depth?: number | undefined;
  readonly exclude?: readonly string[] | undefined;
}

/** A folder as `ls -l` shows it, last changed first. Rejects with a ToolError. */
export async function listFolder({ path, max_depth = 1, exclude = [] }: FolderRequest, ctx: ToolContext): Promise<ReadFile> {
  const place = resolveFile(ctx.workspace, path, 'read');
  const excludes = (entry: string): boolean =>
    exclude.some((glob) => globMatches(glob, entry) || globMatches(glob, entry.slice(entry.lastIndexOf('/') + 1)));
  const { entries, total } = await listTreeByTime(place, { maxDepth: max_depth, most: MOST_ENTRIES, excludes }, ctx.signal);
  const shown = place.path.displayPath;
  const prefix = shown === '.' ? '' : `${shown}/`;
  const lines = entries.map((entry) => `${factsOf(entry.stats)} ${prefix}${entry.path}`);
  const truncated = total > entries.length;
  const note = truncated ? [`Directory at ${shown} was truncated (has total ${total} entries)`] : [];
  const text = [...note, ...lines].join('\n') || 'no entries found';
  return { content: { type: 'text', text }, details: { path: shown, entries: entries.length, total, truncated } };
}

const PERMISSIONS = 'rwxrwxrwx';

/** Kind and permissions, size, time of the last change. */
function factsOf(stats: Stats | undefined): string {
  if (stats === undefined) return '?';
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : '-';
  const permissions = PERMISSIONS.split('')
    .map((letter, index) => ((stats.mode >> (8 - index)) & 1 ? letter : '-'))
    .join('');
  return `${kind}${permissions} ${String(stats.size).padStart(9)} ${stats.mtime.toISOString().slice(0, 16).replace('T', ' ')}`;
}
