import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fromBufferPromise, type Entry } from 'yauzl';

/** What a bundle may have when it is unpacked. */
export const BUNDLE_LIMITS = { files: 50_000, bytes: 1_073_741_824 };

const FILE_TYPE = 0o170_000;
const [REGULAR, FOLDER] = [0o100_000, 0o040_000];

/**
 * Writes the files of a zip archive into an empty folder. Names that lead out of it are refused by the reader of the archive,
 * links and other special files here.
 *
 * @throws Error in words for the operator
 */
export async function unpackBundle(bytes: Buffer, folder: string, limits: typeof BUNDLE_LIMITS = BUNDLE_LIMITS): Promise<void> {
  const archive = await fromBufferPromise(bytes, { strictFileNames: true });
  const budget = { left: limits.bytes };
  try {
    if (archive.entryCount > limits.files) throw new Error(`the bundle has more than ${limits.files} files`);
    for await (const entry of archive.eachEntry()) {
      const { mode, type } = kindOf(entry);
      const target = join(folder, entry.fileName);
      if (type === FOLDER) {
        await mkdir(target, { recursive: true });
        continue;
      }
      if (type !== REGULAR) throw new Error(`the bundle has ${JSON.stringify(entry.fileName)}, which is neither a file nor a folder`);
      await mkdir(dirname(target), { recursive: true });
      const file = createWriteStream(target, { flags: 'wx', mode: (mode & 0o111) === 0 ? 0o644 : 0o755 });
      await pipeline(await archive.openReadStreamPromise(entry), within(budget), file);
    }
  } finally {
    archive.close();
  }
}

/** Archives that were not made on Unix say nothing but whether it is a folder. */
function kindOf({ fileName, externalFileAttributes }: Entry): { readonly mode: number; readonly type: number } {
  const mode = externalFileAttributes >>> 16;
  const type = mode & FILE_TYPE;
  if (fileName.endsWith('/')) return { mode, type: FOLDER };
  return { mode, type: type === 0 ? REGULAR : type };
}

/** What an archive says about its sizes may be wrong: the bytes are counted. */
function within(budget: { left: number }): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      budget.left -= chunk.length;
      if (budget.left < 0) done(new Error('the bundle is too large when it is unpacked'));
      else done(null, chunk);
    },
  });
}
