import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ArchiveUnusable } from '../archive-errors.js';
import { FileStore } from './file.store.js';
import type { ArchiveStore } from './archive-store.port.js';

/**
 * Opens the archive at an address: `file:///folder`, `file:relative/folder` or `s3://bucket/prefix`. For S3, endpoint, region
 * and credentials come from the usual AWS variables. `readOnly` writes nothing, and skips the check of the store.
 *
 * @throws ArchiveUnusable for another address, and for an S3 store that overwrites existing values
 */
export async function openArchive(url: string, { readOnly = false }: { readOnly?: boolean } = {}): Promise<ArchiveStore> {
  if (url.startsWith('file:')) return new FileStore(folderOf(url));
  if (url.startsWith('s3:')) {
    const { openS3 } = await import('./s3.store.js');
    return openS3(url, { readOnly });
  }
  throw new ArchiveUnusable(
    `The address of an archive is file:///folder, file:folder or s3://bucket/prefix, got ${url.split(':', 1)[0]}:…`,
  );
}

function folderOf(url: string): string {
  if (url.startsWith('file://')) return fileURLToPath(url);
  const path = url.slice('file:'.length);
  if (path === '') throw new ArchiveUnusable('The address file: names no folder.');
  return resolve(path);
}
