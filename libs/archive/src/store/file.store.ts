import { randomUUID } from 'node:crypto';
import { constants, type Dirent } from 'node:fs';
import { link, mkdir, open, readdir, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ArchiveCorrupt, ArchiveUnusable } from '../archive-errors.js';
import { checkName, MAX_LISTED, MAX_VALUE_BYTES, type ArchiveStore } from './archive-store.port.js';

/** Folder of unfinished files. Not listed, since names of values have no leading dot. */
const TEMPORARY = '.tmp';
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Archive in a folder. A value is written to a temporary file, flushed, and linked to its name, which fails for an existing
 * name. A kill at any point leaves the whole value, or only a temporary file.
 *
 * A vanished folder, such as an unmounted volume, is an error: it must neither look like an empty archive nor be created again.
 */
export class FileStore implements ArchiveStore {
  readonly label: string;
  private prepared: Promise<void> | undefined;
  private seen = false;

  constructor(private readonly folder: string) {
    this.label = `file:${folder}`;
  }

  async put(name: string, bytes: Uint8Array): Promise<'created' | 'exists'> {
    checkName(name);
    await (this.prepared ??= this.prepare().catch((error: unknown) => this.notPrepared(error)));
    const path = join(this.folder, name);
    const temporary = join(this.folder, TEMPORARY, randomUUID());
    try {
      await writeFlushed(temporary, bytes);
      await makeFoldersBelow(this.folder, dirname(path));
      return await linkOnce(temporary, path);
    } catch (error) {
      throw this.withoutSpace(error);
    } finally {
      await rm(temporary, { force: true });
    }
  }

  async get(name: string): Promise<Buffer | undefined> {
    checkName(name);
    const file = await open(join(this.folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(absent);
    if (file === undefined) return this.noValue();
    try {
      const { size, isFile } = await file.stat().then((found) => ({ size: found.size, isFile: found.isFile() }));
      if (!isFile) throw new ArchiveCorrupt(name, 'is not a regular file');
      if (size > MAX_VALUE_BYTES) throw new ArchiveCorrupt(name, `has ${size} bytes, at most ${MAX_VALUE_BYTES} were expected`);
      return await file.readFile();
    } finally {
      await file.close();
    }
  }

  async list(prefix: string, { after = '', limit = MAX_LISTED }: { after?: string; limit?: number } = {}): Promise<string[]> {
    const names: string[] = [];
    const top = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    for await (const name of this.walk(top, prefix, after)) {
      if (names.length >= limit) break;
      names.push(name);
    }
    return names;
  }

  async delete(name: string): Promise<void> {
    checkName(name);
    await rm(join(this.folder, name), { force: true });
  }

  /** Names of files below `top` (empty, or ending in a slash) in ascending order of the whole name. */
  private async *walk(top: string, prefix: string, after: string): AsyncGenerator<string> {
    const entries = (await readdir(join(this.folder, top), { withFileTypes: true }).catch(absent)) ?? (await this.noValue()) ?? [];
    const names = entries.filter(listed).map((entry) => `${top}${entry.name}${entry.isDirectory() ? '/' : ''}`);
    for (const name of names.toSorted(ascending)) {
      if (!name.startsWith(prefix) && !prefix.startsWith(name)) continue;
      if (!name.endsWith('/')) {
        if (name > after && name.startsWith(prefix)) yield name;
      } else if (name > after || after.startsWith(name)) yield* this.walk(name, prefix, after);
    }
  }

  /** @throws ArchiveUnusable if the whole archive has vanished */
  private async noValue(): Promise<undefined> {
    const isThere = (await stat(join(this.folder, TEMPORARY)).catch(absent)) !== undefined;
    if (this.seen && !isThere) throw new ArchiveUnusable(`The folder ${this.folder} of the archive is gone. Is its volume mounted?`);
    this.seen = isThere;
  }

  private withoutSpace(error: unknown): unknown {
    if (!['ENOSPC', 'EDQUOT'].includes(codeOf(error))) return error;
    return new ArchiveUnusable(
      `The file system of the archive ${this.folder} is full. Make room: sealing continues by itself; until then nothing leaves Redis.`,
      { cause: error },
    );
  }

  /** Resets the preparation, so that the next value retries it. */
  private notPrepared(error: unknown): never {
    this.prepared = undefined;
    throw error;
  }

  /** Creates the folder and removes files of killed processes. */
  private async prepare(): Promise<void> {
    await this.noValue();
    const temporary = join(this.folder, TEMPORARY);
    await makeFolder(temporary);
    const before = Date.now() - ABANDONED_AFTER_MS;
    for (const name of await readdir(temporary)) {
      const found = await stat(join(temporary, name)).catch(absent);
      if (found !== undefined && found.mtimeMs < before) await rm(join(temporary, name), { force: true });
    }
    this.seen = true;
  }
}

function listed(entry: Dirent): boolean {
  return !entry.name.startsWith('.');
}

function ascending(a: string, b: string): number {
  return a < b ? -1 : 1;
}

async function writeFlushed(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Links the file to its name. Flushes the folder even for an existing name, whose process may have been killed before its flush. */
async function linkOnce(temporary: string, path: string): Promise<'created' | 'exists'> {
  const result = await link(temporary, path).then(
    () => 'created' as const,
    (error: unknown) => {
      if (codeOf(error) === 'EEXIST') return 'exists' as const;
      if (['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'ENOSYS'].includes(codeOf(error)))
        throw new ArchiveUnusable(
          `${dirname(path)} is on a file system without hard links, so files cannot be created safely. Use another folder.`,
        );
      throw error;
    },
  );
  await unlink(temporary);
  await flushFolder(dirname(path));
  return result;
}

/** Creates a folder and its parents, and flushes each that got a new entry. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const above = dirname(first);
  const newFolders = relative(above, path).split('/').slice(0, -1);
  for (let folder = above, next = 0; ; folder = join(folder, newFolders[next++] ?? '')) {
    await flushFolder(folder);
    if (next >= newFolders.length) return;
  }
}

/** Creates the folders below `root`, not `root` itself, and flushes each that got a new entry. */
async function makeFoldersBelow(root: string, path: string): Promise<void> {
  let folder = root;
  for (const name of relative(root, path)
    .split('/')
    .filter((part) => part !== '')) {
    const above = folder;
    folder = join(above, name);
    const isNew = await mkdir(folder, { mode: 0o700 }).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === 'EEXIST') return false;
        throw error;
      },
    );
    if (isNew) await flushFolder(above);
  }
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function absent(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
  throw error;
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
