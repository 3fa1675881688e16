import { ToolError, type WorkspaceQuota } from '#tool-sdk';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { FolderMeasurer, type Usage } from './measure-folder.js';

/** The most that the files of one workspace, and of all workspaces of one tenant, may take. Infinity: as much as there is. */
export interface QuotaLimits {
  readonly workspace: Usage;
  readonly tenant: Usage;
}

/** A limit that a call met. */
export interface QuotaExceeded {
  readonly scope: 'workspace' | 'tenant';
  readonly limit: 'bytes' | 'files';
}

/** Block size of file systems: disk usage of a file of one byte. */
const BLOCK_BYTES = 4_096;
/** Other workers write into the same folders: an older measurement is repeated in the background. */
const FRESH_MS = 10_000;
/** A folder is measured again after at least this many times the time that measuring took. */
const MEASURE_SHARE = 50;
/** Longest wait of a call for the first measurement of a tenant. */
const FIRST_MEASURE_MS = 2_000;
const CACHE_SIZE = 4_096;

interface Folder {
  readonly path: string;
  readonly kind: 'workspace' | 'tenant';
  usage: Usage;
  measuredAt: number;
  tookMs: number;
  /** Changed by a write that was not counted, such as one of a command. */
  dirty: boolean;
  measuring: Promise<void> | undefined;
  known: boolean;
}

/**
 * Counts bytes and files of workspaces and tenants. Writes of file tools are counted immediately; writes of commands are
 * measured after their end. May lag behind the writes of other workers in the last seconds.
 */
export class WorkspaceQuotas {
  /** Evicts the least recently used entry: tenants are used by every call and expensive to measure again. */
  private readonly folders = new LRUCache<string, Folder>({ max: CACHE_SIZE });
  /** Tenants are large: a workspace does not wait behind one. */
  private readonly measurers = { workspace: new FolderMeasurer(), tenant: new FolderMeasurer() };

  constructor(
    private readonly limits: QuotaLimits,
    private readonly onRefused: (refusal: QuotaExceeded) => void = () => undefined,
  ) {}

  /** Quota of the workspace at `root`, below `tenant`. */
  of(root: string, tenant: string): WorkspaceQuota {
    const own = () => this.folder(root, 'workspace');
    const all = () => this.folder(tenant, 'tenant');
    return {
      reserve: async (growth) => {
        await Promise.all([this.ensureCurrent(own()), this.ensureCurrent(all())]);
        const failure = growth.bytes > 0 || growth.files > 0 ? this.failureOf(own(), all(), growth) : undefined;
        if (failure !== undefined) throw failure;
        for (const folder of [own(), all()]) folder.usage = sum(folder.usage, growth);
      },
      remaining: async () => {
        await Promise.all([this.ensureCurrent(own()), this.ensureCurrent(all())]);
        const failure = this.failureOf(own(), all(), { bytes: 0, files: 1 }, maxOverdrawnFiles);
        if (failure !== undefined) throw failure;
        return this.leftOf(own(), all());
      },
      invalidate: () => {
        own().dirty = true;
        void this.ensureCurrent(own()).catch(() => undefined);
      },
      measure: async (overdrawn) => {
        const folder = own();
        folder.dirty = true;
        await this.ensureCurrent(folder).catch(() => undefined);
        const failure = this.failureOf(folder, all(), { bytes: 1, files: 1 }, (files) => files + overdrawn + 1);
        return { failure, tookMs: folder.tookMs, left: this.leftOf(folder, all()) };
      },
    };
  }

  /** Ends the threads that measure. */
  async close(): Promise<void> {
    await Promise.all([this.measurers.workspace.endThread(), this.measurers.tenant.endThread()]);
  }

  /** `mostFiles` maps the limit of files to the limit of this check. */
  private failureOf(own: Folder, all: Folder, growth: Usage, mostFiles = (files: number): number => files): ToolError | undefined {
    const { workspace, tenant } = this.limits;
    for (const [scope, folder, most] of [
      ['workspace', own, workspace],
      ['tenant', all, tenant],
    ] as const)
      for (const limit of ['bytes', 'files'] as const)
        if (growth[limit] > 0 && folder.usage[limit] + growth[limit] > (limit === 'files' ? mostFiles(most.files) : most.bytes)) {
          this.onRefused({ scope, limit });
          return quotaFailure({ scope, limit }, folder.usage[limit], most[limit]);
        }
    return undefined;
  }

  private leftOf({ usage }: Folder, all: Folder): Usage {
    const { workspace, tenant } = this.limits;
    return {
      bytes: Math.min(workspace.bytes - usage.bytes, tenant.bytes - all.usage.bytes),
      files: Math.min(workspace.files - usage.files, tenant.files - all.usage.files),
    };
  }

  private folder(path: string, kind: Folder['kind']): Folder {
    const known = this.folders.get(path);
    if (known !== undefined) return known;
    const made: Folder = {
      path,
      kind,
      usage: { bytes: 0, files: 0 },
      measuredAt: 0,
      tookMs: 0,
      dirty: true,
      measuring: undefined,
      known: false,
    };
    this.folders.set(path, made);
    return made;
  }

  /** Waits only where the count is known to be wrong; one that may be old is refreshed in the background. */
  private async ensureCurrent(folder: Folder): Promise<void> {
    if (folder.dirty || !folder.known) {
      const refresh = this.measured(folder);
      if (folder.kind === 'workspace' || folder.known) return refresh;
      return Promise.race([refresh, sleep(FIRST_MEASURE_MS, undefined, { ref: false })]);
    }
    const age = performance.now() - folder.measuredAt;
    if (age > Math.max(FRESH_MS, folder.tookMs * MEASURE_SHARE)) void this.measured(folder).catch(() => undefined);
  }

  private measured(folder: Folder): Promise<void> {
    folder.measuring ??= this.remeasure(folder).finally(() => (folder.measuring = undefined));
    return folder.measuring;
  }

  private async remeasure(folder: Folder): Promise<void> {
    for (;;) {
      folder.dirty = false;
      const startedAt = performance.now();
      const before = folder.usage;
      const found = await this.measurers[folder.kind].measure(folder.path, maxOverdrawnFiles(this.limits[folder.kind].files));
      // Writes during the measurement may be in it or not: the larger figure counts until the next one.
      const since = { bytes: folder.usage.bytes - before.bytes, files: folder.usage.files - before.files };
      const usage = { bytes: found.bytes + Math.max(0, since.bytes), files: found.files + Math.max(0, since.files) };
      this.updateTenant(folder, usage);
      folder.usage = usage;
      folder.known = true;
      folder.measuredAt = performance.now();
      folder.tookMs = folder.measuredAt - startedAt;
      if (!folder.dirty) return;
    }
  }

  /** Adds the difference that a measurement of a workspace found to the usage of its tenant. */
  private updateTenant(folder: Folder, usage: Usage): void {
    if (!folder.known) return;
    for (const around of this.folders.values())
      if (around.known && around !== folder && folder.path.startsWith(`${around.path}/`))
        around.usage = sum(around.usage, { bytes: usage.bytes - folder.usage.bytes, files: usage.files - folder.usage.files });
  }
}

/**
 * Most files with which commands still run. Commands run beyond the limit, since only they can remove files; without this
 * bound, many short ones could continue indefinitely.
 */
function maxOverdrawnFiles(files: number): number {
  return files * 2;
}

/** Disk usage of a file of `bytes` bytes. */
export function bytesOnDisk(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}

function sum(a: Usage, b: Usage): Usage {
  return { bytes: a.bytes + b.bytes, files: a.files + b.files };
}

function quotaFailure({ scope, limit }: QuotaExceeded, used: number, most: number): ToolError {
  const who = scope === 'workspace' ? 'the workspace takes' : 'the workspaces of the tenant take';
  const figures = `${used.toLocaleString('en-US')} of ${most.toLocaleString('en-US')} ${limit}`;
  const message = `Quota exceeded: ${who} ${figures}. Remove files that are not needed, then try again.`;
  return new ToolError('quota_exceeded', message, { retryable: false });
}
