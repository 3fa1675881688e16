import { chmod, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ArchiveUnusable, openArchive, type ArchiveStore } from '#archive';

let folder: string;
let store: ArchiveStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archive-'));
  store = await openArchive(`file://${folder}`);
});

afterEach(() => rm(folder, { recursive: true }));

describe('an archive in a folder', () => {
  it('gives back what was put, and undefined for a name that was never put', async () => {
    expect(await store.put('segments/p00/g1/a.json', Buffer.from('one'))).toBe('created');
    expect(await store.get('segments/p00/g1/a.json')).toEqual(Buffer.from('one'));
    expect(await store.get('segments/p00/g1/b.json')).toBeUndefined();
    expect(await store.get('segments/p00/g1/a.json/b')).toBeUndefined();
  });

  it('keeps the content of a name that exists', async () => {
    await store.put('a', Buffer.from('one'));
    expect(await store.put('a', Buffer.from('two'))).toBe('exists');
    expect(await store.get('a')).toEqual(Buffer.from('one'));
  });

  it('creates a name once when many write it at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, writer) => store.put('x/y', Buffer.from(`${writer}`.repeat(10_000)))));
    expect(answers.filter((answer) => answer === 'created')).toHaveLength(1);
    const bytes = String(await store.get('x/y'));
    expect(new Set(bytes.match(/^(\d+?)\1{9999}$/)?.slice(1)).size).toBe(1);
    expect(await readdir(join(folder, '.tmp'))).toEqual([]);
  });

  it('lists names in ascending order of the whole name, in pages', async () => {
    const names = ['a.b', 'a/b', 'a/c/d', 'a-b', 'ab', 'b/1', 'b/10', 'b/2'];
    for (const name of names) await store.put(name, Buffer.from(name));
    const sorted = names.toSorted();
    expect(await store.list('')).toEqual(sorted);
    expect(await store.list('a')).toEqual(sorted.filter((name) => name.startsWith('a')));
    expect(await store.list('b/')).toEqual(['b/1', 'b/10', 'b/2']);
    expect(await store.list('b/1')).toEqual(['b/1', 'b/10']);
    for (const after of [...names, 'a/', 'a/c/~', 'zz']) {
      expect(await store.list('', { after, limit: 3 })).toEqual(sorted.filter((name) => name > after).slice(0, 3));
    }
    expect(await store.list('none/')).toEqual([]);
  });

  it('deletes a name, and does nothing when there is none', async () => {
    await store.put('a/b', Buffer.from('one'));
    await store.delete('a/b');
    await store.delete('a/b');
    expect(await store.get('a/b')).toBeUndefined();
  });

  it.each(['../a', '/a', 'a/../b', 'a//b', '.tmp/a', 'a/', '', 'a\0b', 'a\nb'])('refuses the name %j', async (name) => {
    await expect(store.put(name, Buffer.from(''))).rejects.toThrow(TypeError);
    await expect(store.get(name)).rejects.toThrow(TypeError);
  });

  it('reads no symbolic link and no device', async () => {
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

  it('writes nothing when it only reads', async () => {
    await chmod(folder, 0o500);
    expect(await store.list('')).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
    await chmod(folder, 0o700);
  });
});

describe('openArchive', () => {
  it('takes a folder relative to the current one', async () => {
    const relativeStore = await openArchive(`file:${relative(process.cwd(), folder)}`);
    await store.put('a', Buffer.from('one'));
    expect(await relativeStore.get('a')).toEqual(Buffer.from('one'));
    expect(relativeStore.label).toBe(`file:${folder}`);
  });

  it.each(['/a/b', 'http://secret@host/', 'file:', 's3://', 's3://Bad_Bucket/x', ''])(
    'refuses the address %j and repeats no secret',
    async (url) => {
      await expect(openArchive(url)).rejects.toThrow(ArchiveUnusable);
      await expect(openArchive(url)).rejects.not.toThrow(/secret/);
    },
  );
});
