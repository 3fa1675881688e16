import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { Label } from '#contracts';
import type { CallMeta } from '#event-log';
import type { SharedRoot, Workspace } from '#tools';

/** How long a directory that was there is taken to be there still: calls of one session come in bursts. */
const FRESH_MS = 2_000;
const REMEMBERED = 1_024;
/** Under a name that no tenant can have. */
const LOCKS_FOLDER = '~locks';

/**
 * The directories in which calls work: `<root>/<tenant>/sessions/<session>`, or `<root>/<tenant>/default` for calls
 * without a session. Made when they are not there.
 */
export class Workspaces {
  private readonly opened = new Map<string, { readonly workspace: Workspace; readonly at: number }>();

  private readonly roots: readonly SharedRoot[];

  constructor(
    private readonly root: string,
    shared: readonly Omit<SharedRoot, 'locks'>[] = [],
  ) {
    this.roots = shared.map((it) => ({ ...it, locks: join(root, LOCKS_FOLDER) }));
  }

  /**
   * Names were labels when they came in; they are looked at again because here they become paths. Rejects when a name
   * is no label or the directory cannot be made.
   */
  async open(meta: Pick<CallMeta, 'tenantId' | 'sessionId'>): Promise<Workspace> {
    const tenant = Label.parse(meta.tenantId);
    const name = meta.sessionId === undefined ? `${tenant}/default` : `${tenant}/sessions/${Label.parse(meta.sessionId)}`;
    const known = this.opened.get(name);
    if (known && performance.now() - known.at < FRESH_MS) return known.workspace;
    const path = join(this.root, name);
    await mkdir(path, { recursive: true, mode: 0o700 });
    const workspace = { root: await realpath(path), ...(this.roots.length === 0 ? {} : { roots: this.roots }) };
    if (this.opened.size >= REMEMBERED) this.opened.clear();
    this.opened.set(name, { workspace, at: performance.now() });
    return workspace;
  }
}
