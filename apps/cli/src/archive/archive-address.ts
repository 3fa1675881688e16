import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ArchiveUnusable, openArchive, type ArchiveStore } from '#archive';
import { UsageError } from '../usage-error.js';

/** Opens an archive to read: an address, or the path of a folder. @throws UsageError when it cannot be one */
export async function openGiven(archive: string): Promise<ArchiveStore> {
  if (!/^(file|s3):/.test(archive) && !existsSync(archive))
    throw new UsageError(`There is no folder ${archive}. An archive is a folder, file:folder or s3://bucket/prefix.`);
  try {
    return await openArchive(/^(file|s3):/.test(archive) ? archive : pathToFileURL(resolve(archive)).href, { readOnly: true });
  } catch (error) {
    if (error instanceof ArchiveUnusable) throw new UsageError(error.message);
    throw error;
  }
}
