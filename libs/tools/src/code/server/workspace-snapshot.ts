import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FileChangeType, type FileEvent } from 'vscode-languageserver-protocol/node';
import type { ToolContext } from '#tool-sdk';
import { globFiles } from '../../search/glob-files.js';
import { searchTarget } from '../../search/search-target.js';

/** Most watched files; the server must watch any others. */
const MOST_FILES = 5_000;
const STATS_AT_ONCE = 64;
/** Extensions of project configuration, which a server of any language reads. */
const PROJECT_FILES = ['json', 'toml', 'mod', 'cfg', 'xml', 'gradle', 'yaml', 'yml'];

/** Modification time and size of each file. */
export type WorkspaceSnapshot = ReadonlyMap<string, string>;

/** The files of the workspace that a server may care about, as they are now: commands and other workers change them, too. */
export async function snapshotOf(extensions: readonly string[], ctx: ToolContext): Promise<WorkspaceSnapshot> {
  const names = [...new Set([...extensions, ...PROJECT_FILES])];
  const target = await searchTarget(ctx.workspace, '.');
  const request = { pattern: `*.{${names.join(',')}}`, target, maxDepth: 50, most: MOST_FILES, ignored: false, sort: 'path' as const };
  const { files } = await globFiles(request, ctx);
  const snapshot = new Map<string, string>();
  for (let from = 0; from < files.length; from += STATS_AT_ONCE) {
    ctx.signal.throwIfAborted();
    const paths = files.slice(from, from + STATS_AT_ONCE);
    const stats = await Promise.all(paths.map((path) => stampOf(target.root, path)));
    for (const [index, path] of paths.entries()) {
      const found = stats[index];
      if (found !== undefined) snapshot.set(path, found);
    }
  }
  return snapshot;
}

/** Another one after each change of the file; undefined where there is none. */
export async function stampOf(root: string, path: string): Promise<string | undefined> {
  const found = await lstat(join(root, path), { bigint: true }).catch(() => undefined);
  return found === undefined ? undefined : `${found.mtimeNs} ${found.size} ${found.ino}`;
}

/** Changes as events of the protocol. */
export function changesBetween(before: WorkspaceSnapshot, after: WorkspaceSnapshot, root: string): FileEvent[] {
  const event = (path: string, type: FileChangeType): FileEvent => ({ uri: pathToFileURL(join(root, path)).href, type });
  const present = [...after].flatMap(([path, stamp]) => {
    const known = before.get(path);
    if (known === stamp) return [];
    return [event(path, known === undefined ? FileChangeType.Created : FileChangeType.Changed)];
  });
  const gone = [...before.keys()].filter((path) => !after.has(path)).map((path) => event(path, FileChangeType.Deleted));
  return [...present, ...gone];
}
