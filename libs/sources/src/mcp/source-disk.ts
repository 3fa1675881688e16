import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { StoredSource } from '#contracts';
import type { WorkspaceQuotas } from '#sandbox';
import type { WorkspaceQuota } from '#tool-sdk';

const run = promisify(execFile);

/** Folder of unpacked bundles; no source has such a name. */
const BUNDLES = '~bundles';
/** A folder is measured again after at least this many times the time that measuring took. */
const MEASURE_SHARE = 50;

interface Disk {
  readonly folder: string;
  readonly quotas?: Pick<WorkspaceQuotas, 'of'>;
}

/** Folder of all sources of a tenant. */
export function folderOf({ folder }: Disk, { tenantId }: StoredSource): string {
  return join(folder, tenantId === '*' ? '~all' : tenantId);
}

/** Folder of the program of a source. */
export function workspaceOf(disk: Disk, source: StoredSource): string {
  return join(folderOf(disk, source), source.definition.name);
}

/**
 * Deletes the folder of a program that has ended. By commands, since programs make folders that their owner may not
 * read, and paths longer than the system takes. No link is followed.
 */
export async function deleteWorkspace(folder: string): Promise<void> {
  // Fails for a folder that does not exist, and for files that vanish meanwhile: the deletion decides.
  await run('chmod', ['-R', 'u+rwx', '--', folder]).catch(() => undefined);
  await run('rm', ['-rf', '--', folder]);
}

/** Bundles of a tenant, apart from those of others: knowing a digest gives no access to the bundle. */
export function bundlesOf(disk: Disk, source: StoredSource): string {
  return join(folderOf(disk, source), BUNDLES);
}

/** Bundles of earlier releases, which all tenants shared. */
export function sharedBundlesOf({ folder }: Disk): string {
  return join(folder, BUNDLES);
}

/** Quota of the folder of a program that a tenant added; undefined for those of the operator. */
export function programQuota({ quotas }: Disk, { origin }: StoredSource, workspace: string): WorkspaceQuota | undefined {
  return origin === 'config' ? undefined : quotas?.of(workspace, workspace);
}

/**
 * Measures the folder of a program again and again, less often where that takes long. Calls `onFull` once when it exceeds
 * its quota. Returns the end of the watch.
 */
export function watchDisk(quota: Pick<WorkspaceQuota, 'measure'>, everyMs: number, onFull: () => void): () => void {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const waitThenMeasure = (ms: number) => (timer = setTimeout(() => void measure(), ms).unref());
  const measure = async () => {
    const { failure, tookMs } = await quota.measure(0);
    if (isOver) return;
    if (failure === undefined) waitThenMeasure(Math.max(everyMs, tookMs * MEASURE_SHARE));
    else onFull();
  };
  waitThenMeasure(everyMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Quota of a folder below that of the tenant; undefined for sources of the operator that all tenants share. */
export function quotaOf(disk: Disk, source: StoredSource, root: string): WorkspaceQuota | undefined {
  return source.tenantId === '*' ? undefined : disk.quotas?.of(root, folderOf(disk, source));
}
