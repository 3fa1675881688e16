import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { Label } from '#contracts';
import type { CallMeta } from '#event-log';
import type { WorkspaceQuotas } from '#sandbox';
import type { Workspace } from '#tool-sdk';

/** How long a directory that was there is taken to be there still: calls of one session come in bursts. */
const CACHE_TTL_MS = 2_000;
const CACHE_SIZE = 1_024;

/**
 * The directories in which calls work: `<root>/<tenant>/sessions/<session>`, or `<root>/<tenant>/default` for calls
 * without a session. Made when they are not there.
 */
export class Workspaces {
  private readonly cache = new LRUCache<string, Workspace>({ max: CACHE_SIZE, ttl: CACHE_TTL_MS });
  /** Ends with a slash. */
  private readonly root: string;

  /** With `quotas`, what the workspaces take is limited. */
  constructor(
    root: string,
    private readonly quotas?: WorkspaceQuotas,
  ) {
    this.root = join(root, '/');
  }

  /**
   * The workspace as it is configured; links are not resolved. Throws when a name is no label: here they become paths.
   */
  pathOf(meta: Pick<CallMeta, 'tenantId' | 'sessionId'>): string {
    const tenant = `${this.root}${Label.parse(meta.tenantId)}`;
    return meta.sessionId === undefined ? `${tenant}/default` : `${tenant}/sessions/${Label.parse(meta.sessionId)}`;
  }

  /** Rejects when a name is no label or the directory cannot be made. */
  async resolve(meta: Pick<CallMeta, 'tenantId' | 'sessionId'>): Promise<Workspace> {
    const path = this.pathOf(meta);
    const known = this.cache.get(path);
    if (known) return known;
    await mkdir(path, { recursive: true, mode: 0o700 });
    const [root, tenant] = await Promise.all([realpath(path), realpath(join(this.root, Label.parse(meta.tenantId)))]);
    const workspace = { root, ...(this.quotas === undefined ? {} : { quota: this.quotas.of(root, tenant) }) };
    this.cache.set(path, workspace);
    return workspace;
  }
}
