import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openPromise, type Entry } from 'yauzl';

/** What a bundle may have when it is unpacked; `files` counts folders, too. */
export const BUNDLE_LIMITS = { files: 50_000, bytes: 1_073_741_824, nameBytes: 512, levels: 32 };

const FILE_TYPE = 0o170_000;
const [REGULAR, FOLDER] = [0o100_000, 0o040_000];

/**
 * Writes the files of a zip archive into an empty folder. Names that lead out of it are refused by the reader of the archive,
 * links and other special files here.
 *
 * @throws Error in words for the operator
 */
export async function unpackBundle(path: string, folder: string, signal: AbortSignal, limits = BUNDLE_LIMITS): Promise<void> {
  const archive = await openPromise(path, { strictFileNames: true });
  const budget = { bytes: limits.bytes };
  const made = new Set<string>();
  try {
    for await (const entry of archive.eachEntry()) {
      signal.throwIfAborted();
      const { fileName } = entry;
      const parts = fileName.split('/');
      if (Buffer.byteLength(fileName) > limits.nameBytes || parts.length > limits.levels)
        throw new Error(`the bundle has a name of more than ${limits.nameBytes} bytes or ${limits.levels} levels`);
      for (let level = 1; level <= parts.length; level++) made.add(parts.slice(0, level).join('/'));
      if (made.size > limits.files) throw new Error(`the bundle has more than ${limits.files} files and folders`);
      await unpackEntry(entry, () => archive.openReadStreamPromise(entry), join(folder, fileName), budget);
    }
  } finally {
    archive.close();
  }
}

async function unpackEntry(
  entry: Entry,
  read: () => Promise<NodeJS.ReadableStream>,
  target: string,
  budget: { bytes: number },
): Promise<void> {
  const { mode, type } = kindOf(entry);
  if (type === FOLDER) {
    await mkdir(target, { recursive: true });
    return;
  }
  if (type !== REGULAR) throw new Error(`the bundle has ${JSON.stringify(entry.fileName)}, which is neither a file nor a folder`);
  await mkdir(dirname(target), { recursive: true });
  await pipeline(await read(), within(budget), createWriteStream(target, { flags: 'wx', mode: (mode & 0o111) === 0 ? 0o644 : 0o755 }));
}

/** Archives that were not made on Unix say nothing but whether it is a folder. */
function kindOf({ fileName, externalFileAttributes }: Entry): { readonly mode: number; readonly type: number } {
  const mode = externalFileAttributes >>> 16;
  const type = mode & FILE_TYPE;
  if (fileName.endsWith('/')) return { mode, type: FOLDER };
  return { mode, type: type === 0 ? REGULAR : type };
}

/** What an archive says about its sizes may be wrong: the bytes are counted. */
function within(budget: { bytes: number }): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      budget.bytes -= chunk.length;
      if (budget.bytes < 0) done(new Error('the bundle is too large when it is unpacked'));
      else done(null, chunk);
    },
  });
}
