import { chmod, mkdir, mkdtemp, readdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ArchiveUnusable, openArchive, type ArchiveStore } from '#archive';
import { archiveStoreContract } from '../testing/store.contract.js';

let folder: string;
let store: ArchiveStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archive-'));
  store = await openArchive(`file://${folder}`);
});

afterEach(() => rm(folder, { recursive: true }));

describe('an archive in a folder', () => {
  archiveStoreContract(() => store);

  it('leaves no temporary file when many write a name at the same time', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, writer) => store.put('x/y', Buffer.from(`${writer}`))));
    expect(await readdir(join(folder, '.tmp'))).toEqual([]);
  });

  it('fails while the folder of an archive is gone, instead of looking empty or making it again', async () => {
    await store.put('a/b', Buffer.from('one'));
    await rename(folder, `${folder}-away`);
    await expect(store.get('a/b')).rejects.toThrow(ArchiveUnusable);
    await expect(store.list('a/')).rejects.toThrow(/is gone. Is its volume mounted/);
    for (const name of ['a/c', 'd/e/f', 'g']) await expect(store.put(name, Buffer.from('two'))).rejects.toThrow(/ENOENT/);
    const other = await openArchive(`file://${folder}`);
    expect(await other.get('a/b')).toBeUndefined();
    await rename(`${folder}-away`, folder);
    expect(String(await store.get('a/b'))).toBe('one');
    expect(await store.put('d/e/f', Buffer.from('two'))).toBe('created');
    expect(await store.list('')).toEqual(['a/b', 'd/e/f']);
  });

  it('writes an archive as soon as its folder can be made', async () => {
    const fresh = await openArchive(`file://${folder}/file/archive`);
    await writeFile(join(folder, 'file'), '');
    await expect(fresh.put('a', Buffer.from('one'))).rejects.toThrow(/ENOTDIR|EEXIST/);
    await rm(join(folder, 'file'));
    expect(await fresh.put('a', Buffer.from('one'))).toBe('created');
  });

  it('reads no symbolic link and no device in an archive', async () => {
    await writeFile(join(folder, 'secret'), 'secret');
    await symlink(join(folder, 'secret'), join(folder, 'link'));
    await mkdir(join(folder, 'folder'));
    await expect(store.get('link')).rejects.toThrow(/ELOOP/);
    await expect(store.get('folder')).rejects.toThrow('folder: is not a regular file');
  });

  it('removes temporary files of a killed writer after an hour, and no other', async () => {
    await mkdir(join(folder, '.tmp'));
    await writeFile(join(folder, '.tmp', 'old'), 'x');
    await writeFile(join(folder, '.tmp', 'new'), 'x');
    const twoHoursAgo = Date.now() / 1000 - 7200;
    await utimes(join(folder, '.tmp', 'old'), twoHoursAgo, twoHoursAgo);
    await store.put('a', Buffer.from('one'));
    expect(await readdir(join(folder, '.tmp'))).toEqual(['new']);
    expect(await store.list('')).toEqual(['a']);
  });

  it('writes nothing to an archive opened for reading', async () => {
    await chmod(folder, 0o500);
    expect(await store.list('')).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
    await chmod(folder, 0o700);
  });
});

describe('openArchive', () => {
  it('opens an archive in a folder relative to the current one', async () => {
    const relativeStore = await openArchive(`file:${relative(process.cwd(), folder)}`);
    await store.put('a', Buffer.from('one'));
    expect(await relativeStore.get('a')).toEqual(Buffer.from('one'));
    expect(relativeStore.label).toBe(`file:${folder}`);
  });

  it.each(['/a/b', 'http://secret@host/', 'file:', 's3://', 's3://Bad_Bucket/x', ''])(
    'refuses the address %j of an archive and repeats no secret',
    async (url) => {
      await expect(openArchive(url)).rejects.toThrow(ArchiveUnusable);
      await expect(openArchive(url)).rejects.not.toThrow(/secret/);
    },
  );
});
