import type { Entry, ZipFile } from 'yauzl';

/** Limits of an unpacked bundle; `files` includes folders. */
export const BUNDLE_LIMITS = { files: 50_000, bytes: 1_073_741_824, nameBytes: 512, levels: 32 };

const FILE_TYPE = 0o170_000;
const [REGULAR, FOLDER] = [0o100_000, 0o040_000];

export interface BundleEntry {
  readonly entry: Entry;
  readonly isFolder: boolean;
  readonly mode: number;
}

/**
 * The entries of an archive, one after another, each checked. The reader of the archive itself refuses names that lead out of a folder.
 *
 * @throws Error in words for the operator
 */
export async function* bundleEntries(archive: ZipFile, limits: typeof BUNDLE_LIMITS): AsyncGenerator<BundleEntry> {
  const made = new Set<string>();
  let entries = 0;
  for await (const entry of archive.eachEntry()) {
    const { fileName } = entry;
    const parts = fileName.split('/');
    if (Buffer.byteLength(fileName) > limits.nameBytes || parts.length > limits.levels)
      throw new Error(`the bundle has a name of more than ${limits.nameBytes} bytes or ${limits.levels} levels`);
    for (let level = 1; level <= parts.length; level++) made.add(parts.slice(0, level).join('/'));
    entries += 1;
    if (Math.max(made.size, entries) > limits.files) throw new Error(`the bundle has more than ${limits.files} files and folders`);
    const { mode, type } = kindOf(entry);
    if (type !== REGULAR && type !== FOLDER)
      throw new Error(`the bundle has ${JSON.stringify(fileName)}, which is neither a file nor a folder`);
    yield { entry, isFolder: type === FOLDER, mode };
  }
}

/** Archives that were not made on Unix say nothing but whether it is a folder. */
function kindOf({ fileName, externalFileAttributes }: Entry): { readonly mode: number; readonly type: number } {
  const mode = externalFileAttributes >>> 16;
  const type = mode & FILE_TYPE;
  if (fileName.endsWith('/')) return { mode, type: FOLDER };
  return { mode, type: type === 0 ? REGULAR : type };
}
