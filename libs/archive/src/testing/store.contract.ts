import { expect, it } from '@jest/globals';
import type { ArchiveStore } from '#archive';

/** Behaviour of every archive store; `open` returns an empty one. */
export function archiveStoreContract(open: () => ArchiveStore): void {
  it('returns a stored value, and undefined for an unknown name', async () => {
    const store = open();
    expect(await store.put('segments/p00/g1/a.json', Buffer.from('one'))).toBe('created');
    expect(await store.get('segments/p00/g1/a.json')).toEqual(Buffer.from('one'));
    expect(await store.get('segments/p00/g1/b.json')).toBeUndefined();
    expect(await store.get('segments/p00/g1/a.json/b')).toBeUndefined();
  });

  it('refuses to replace an existing name in a store', async () => {
    const store = open();
    await store.put('a', Buffer.from('one'));
    expect(await store.put('a', Buffer.from('two'))).toBe('exists');
    expect(await store.get('a')).toEqual(Buffer.from('one'));
  });

  it('creates a name once when many write it at the same time', async () => {
    const store = open();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, writer) => store.put('x/y', Buffer.from(`${writer}`.repeat(10_000)))));
    expect(answers.filter((answer) => answer === 'created')).toHaveLength(1);
    const bytes = String(await store.get('x/y'));
    expect(new Set(bytes.match(/^(\d+?)\1{9999}$/)?.slice(1)).size).toBe(1);
  });

  it('lists names in ascending order of the whole name, in pages', async () => {
    const store = open();
    const names = ['a.b', 'a/c/d', 'a-b', 'ab', 'b/1', 'b/10', 'b/2'];
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

  it('deletes a name, and ignores a missing one', async () => {
    const store = open();
    await store.put('a/b', Buffer.from('one'));
    await store.delete('a/b');
    await store.delete('a/b');
    expect(await store.get('a/b')).toBeUndefined();
  });

  it.each(['../a', '/a', 'a/../b', 'a//b', '.tmp/a', 'a/', '', 'a\0b', 'a\nb'])('refuses the name %j in a store', async (name) => {
    await expect(open().put(name, Buffer.from(''))).rejects.toThrow(TypeError);
    await expect(open().get(name)).rejects.toThrow(TypeError);
  });
}
