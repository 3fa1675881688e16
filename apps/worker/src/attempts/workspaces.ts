import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { Label } from '#contracts';
import type { CallMeta } from '#event-log';
import { autoRunReason } from '#policy';
import { giveFolder, type RemoteHosts, type Sandbox, type WorkspaceQuotas } from '#sandbox';
import type { Workspace } from '#tool-sdk';

/** Time for which a directory counts as existing after a check: calls of one session come in bursts. */
const CACHE_TTL_MS = 2_000;
const CACHE_SIZE = 1_024;

/**
 * Workspaces of calls: `<root>/<tenant>/sessions/<session>`, or `<root>/<tenant>/default` for calls without a session. Created
 * on first use.
 */
export class Workspaces {
  private readonly cache = new LRUCache<string, Promise<Workspace>>({ max: CACHE_SIZE, ttl: CACHE_TTL_MS });
  /** Root with a slash at its end. */
  private readonly root: string;

  /** `quotas` limits the size of workspaces; with `hosts` the files of some calls are elsewhere; with `sandbox` they belong to its user. */
  constructor(
    root: string,
    private readonly quotas?: WorkspaceQuotas,
    private readonly hosts?: Pick<RemoteHosts, 'nameFor'>,
    private readonly sandbox?: Pick<Sandbox, 'userOf'>,
  ) {
    this.root = join(root, '/');
  }

  /** Configured path of the workspace; links are not resolved. Throws if a name is no label, since names become paths. */
  pathOf(meta: Pick<CallMeta, 'tenantId' | 'sessionId'>): string {
    const tenant = `${this.root}${Label.parse(meta.tenantId)}`;
    return meta.sessionId === undefined ? `${tenant}/default` : `${tenant}/sessions/${Label.parse(meta.sessionId)}`;
  }

  /**
   * Rejects if a name is no label or the directory cannot be created. `host` is that of the gateway: it applies even if this
   * worker does not know it, and then refuses the commands.
   */
  async resolve(meta: Pick<CallMeta, 'tenantId' | 'sessionId' | 'agentId'>, host?: string): Promise<Workspace> {
    const onHost = host ?? this.hosts?.nameFor(meta);
    const local = await this.local(meta);
    return onHost === undefined ? local : { ...local, onHost };
  }

  private async local(meta: Pick<CallMeta, 'tenantId' | 'sessionId'>): Promise<Workspace> {
    const path = this.pathOf(meta);
    const cached = this.cache.get(path);
    if (cached) return cached;
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
