import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';
import { BUNDLE_LIMITS, bundleEntries } from './bundle-entries.js';

/**
 * Writes the files of a zip archive into an empty folder. Links and other special files are refused.
 *
 * @throws Error in words for the operator
 */
export async function unpackBundle(path: string, folder: string, signal: AbortSignal, limits = BUNDLE_LIMITS): Promise<void> {
  const archive = await openPromise(path, { strictFileNames: true });
  const budget = { bytes: limits.bytes };
  try {
    for await (const { entry, isFolder, mode } of bundleEntries(archive, limits)) {
      signal.throwIfAborted();
      const target = join(folder, entry.fileName);
      await mkdir(isFolder ? target : dirname(target), { recursive: true });
      if (isFolder) continue;
      const file = createWriteStream(target, { flags: 'wx', mode: (mode & 0o111) === 0 ? 0o644 : 0o755 });
      await pipeline(await archive.openReadStreamPromise(entry), within(budget), file);
    }
  } finally {
    archive.close();
  }
}

/** Limits the unpacked bytes by counting them, since the sizes in an archive may be wrong. */
function within(budget: { bytes: number }): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      budget.bytes -= chunk.length;
      if (budget.bytes < 0)
        done(
          new Error(
            'the bundle is too large when it is unpacked: its tenant (TENANT_QUOTA_BYTES), or the disk of the worker, has no room for it',
          ),
        );
      else done(null, chunk);
    },
  });
}
