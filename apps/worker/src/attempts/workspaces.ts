import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { Label } from '#contracts';
import type { CallMeta } from '#event-log';
import { autoRunReason } from '#policy';
import { giveFolder, type RemoteHosts, type Sandbox, type WorkspaceQuotas } from '#sandbox';
import type { Workspace } from '#tool-sdk';

/** How long a directory that was there is taken to be there still: calls of one session come in bursts, many at the same moment. */
const CACHE_TTL_MS = 2_000;
const CACHE_SIZE = 1_024;

/**
 * The directories in which calls work: `<root>/<tenant>/sessions/<session>`, or `<root>/<tenant>/default` for calls
 * without a session. Made when they are not there.
 */
export class Workspaces {
  private readonly cache = new LRUCache<string, Promise<Workspace>>({ max: CACHE_SIZE, ttl: CACHE_TTL_MS });
  /** Ends with a slash. */
  private readonly root: string;

  /** With `quotas`, what the workspaces take is limited. With `hosts`, the files of some calls are elsewhere. With `sandbox`, they belong to its user. */
  constructor(
    root: string,
    private readonly quotas?: WorkspaceQuotas,
    private readonly hosts?: Pick<RemoteHosts, 'nameFor'>,
    private readonly sandbox?: Pick<Sandbox, 'userOf'>,
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

  /**
   * Rejects when a name is no label or the directory cannot be made. `host` is the one that the gateway names: it holds also
   * where this worker does not know it, and then refuses the commands.
   */
  async resolve(meta: Pick<CallMeta, 'tenantId' | 'sessionId' | 'agentId'>, host?: string): Promise<Workspace> {
    const onHost = host ?? this.hosts?.nameFor(meta);
    const local = await this.local(meta);
    return onHost === undefined ? local : { ...local, onHost };
  }

  private async local(meta: Pick<CallMeta, 'tenantId' | 'sessionId'>): Promise<Workspace> {
    const path = this.pathOf(meta);
    const known = this.cache.get(path);
    if (known) return known;
    const opened = this.open(path, meta.tenantId);
    this.cache.set(path, opened);
    void opened.catch(() => this.cache.delete(path));
    return opened;
  }

  private async open(path: string, tenantId: string): Promise<Workspace> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (this.sandbox) await giveFolder(path, this.sandbox.userOf(tenantId));
    const [root, tenant] = await Promise.all([realpath(path), realpath(join(this.root, Label.parse(tenantId)))]);
    return { root, autoRunReason, ...(this.quotas === undefined ? {} : { quota: this.quotas.of(root, tenant) }) };
  }
}
