import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadLua } from './lua-loader.js';

describe('loadLua', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'lua-'))));
  afterEach(() => rm(folder, { recursive: true }));

  const load = async (files: Record<string, string>, provided?: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    return loadLua(pathToFileURL(join(folder, 'main.lua')), provided);
  };

  it('inserts an included file once, before the first file that needs it', async () => {
    const text = await load({
      'main.lua': '--- @include "includes/b"\n--- @include "includes/a"\nreturn a() + b()',
      'includes/a.lua': 'local function a() return 1 end',
      'includes/b.lua': '--- @include "a"\nlocal function b() return a() end',
    });
    expect(text.split('\n').filter(Boolean)).toEqual([
      'local function a() return 1 end',
      'local function b() return a() end',
      'return a() + b()',
    ]);
  });

  it('inserts a file inside of a function at an indented line', async () => {
    const text = await load({
      'main.lua': 'local function both()\n  --- @include "one"\n  return one() + one()\nend',
      'one.lua': 'local function one() return 1 end',
    });
    expect(text).toBe('local function both()\nlocal function one() return 1 end\n  return one() + one()\nend');
  });

  it('inserts a text that the caller provides', async () => {
    expect(await load({ 'main.lua': '--- @include "<hook>"\nreturn hook()' }, { hook: 'local function hook() return 1 end' })).toBe(
      'local function hook() return 1 end\nreturn hook()',
    );
  });

  it('refuses a missing file, a missing text and files that include each other', async () => {
    await expect(load({ 'main.lua': '--- @include "gone"' })).rejects.toThrow(/gone\.lua/);
    await expect(load({ 'main.lua': '--- @include "<hook>"' })).rejects.toThrow(/main\.lua includes <hook>/);
    const circle = { 'main.lua': '--- @include "a"', 'a.lua': '--- @include "b"', 'b.lua': '--- @include "a"' };
    await expect(load(circle)).rejects.toThrow('main.lua -> a.lua -> b.lua -> a.lua');
  });
});
