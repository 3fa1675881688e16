import { spawn } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SECRET, startSwapper, testWorkspace, type TestWorkspace } from '../testing/test-workspace.js';
import {
  LockLost,
  openDirectoryBeneath,
  openParent,
  parseWorkspacePath,
  readWorkspaceFile,
  replaceFile,
  statForWriting,
  withPathLock,
} from '#sandbox';
import { ToolError } from '#tool-sdk';
import { textFrom } from '../testing/outputs.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { FileWriteTool } from './file-write.tool.js';

const never = new AbortController().signal;
let workspace: TestWorkspace;
beforeEach(async () => void (workspace = await testWorkspace()));
afterEach(() => workspace.remove());

async function read(path: string, signal = never): Promise<string> {
  const parsed = parseWorkspacePath(workspace.root, path);
  return (await readWorkspaceFile({ root: workspace.root, path: parsed }, { bytes: 1_000, hint: '' }, signal)).bytes.toString();
}

async function write(path: string, text: string): Promise<void> {
  const parsed = parseWorkspacePath(workspace.root, path);
  const { directory, name } = await openParent({ root: workspace.root, path: parsed }, { create: true });
  try {
    await statForWriting(directory, name, parsed.displayPath);
    await replaceFile(directory, name, Buffer.from(text), { signal: never, shown: parsed.displayPath });
  } finally {
    await directory.handle.close();
  }
}

async function refusal(work: Promise<unknown>): Promise<ToolError> {
  try {
    return expect(await work).toBe('refused') as never;
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
}

describe('paths of a workspace', () => {
  it.each(['a.txt', './a.txt', 'x/../a.txt', '//a.txt'.slice(1)])('accepts the path %s while it stays inside', async (path) => {
    await workspace.put('a.txt', 'hello');
    await expect(path.startsWith('/') ? refusal(read(path)) : read(path)).resolves.toEqual(
      path.startsWith('/') ? expect.any(ToolError) : 'hello',
    );
  });

  it('accepts an absolute path that begins with the root of the workspace', async () => {
    await workspace.put('d/a.txt', 'hello');
    expect(await read(join(workspace.root, 'd/a.txt'))).toBe('hello');
  });

  it.each([
    '../outside/secret.txt',
    '../../outside/secret.txt',
    '/etc/passwd',
    'a/../../outside',
    '~',
    '~/x',
    'a\0b',
    'a\nb',
    '..',
    'x'.repeat(5_000),
  ])('refuses the path %j, states the allowed form and shows no path of the machine [PP-20]', async (path) => {
    const failure = await refusal(read(path));
    expect(failure.code).toBe('policy_denied');
    expect(failure.message).toMatch(/^Path not allowed: .*Only paths inside the workspace are allowed/s);
    expect(failure.message).not.toContain(workspace.root);
  });

  it.each(['%2e%2e/outside/secret.txt', '．．/outside/secret.txt', '..%2foutside', '‥/outside', '..\\outside\\secret.txt'])(
    'treats %s as plain names',
    async (path) => {
      expect((await refusal(read(path))).message).toMatch(/^File not found/);
    },
  );

  it('refuses a root that only resembles the root of the workspace', async () => {
    expect((await refusal(read(`${workspace.root}-other/a`))).code).toBe('policy_denied');
  });

  it('follows links that stay inside, also through the middle and by absolute targets [PP-25]', async () => {
    await workspace.put('real/deep/a.txt', 'hello');
    await symlink('real', join(workspace.root, 'relative'));
    await symlink(join(workspace.root, 'real/deep'), join(workspace.root, 'absolute'));
    await symlink('../relative/deep/a.txt', join(workspace.root, 'real/up'));
    expect(await read('relative/deep/a.txt')).toBe('hello');
    expect(await read('absolute/a.txt')).toBe('hello');
    expect(await read('real/up')).toBe('hello');
  });

  it('refuses links that leave the workspace, whichever part of the path they are, and loops [PP-25]', async () => {
    await symlink('../../outside', join(workspace.root, 'out'));
    await symlink(join(workspace.outside, 'secret.txt'), join(workspace.root, 'file'));
    await symlink('out/secret.txt', join(workspace.root, 'twice'));
    await symlink('loop', join(workspace.root, 'loop'));
    for (const path of ['out/secret.txt', 'out', 'file', 'twice']) expect((await refusal(read(path))).code).toBe('policy_denied');
    expect((await refusal(read('loop'))).message).toBe('Too many symbolic links: loop');
  });

  it('refuses to read a directory, a pipe and a file over the limit, and never waits for a pipe', async () => {
    await mkdir(join(workspace.root, 'd'));
    await new Promise((resolve) => spawn('mkfifo', [join(workspace.root, 'pipe')]).once('exit', resolve));
    await workspace.put('big', 'x'.repeat(1_001));
    expect((await refusal(read('d'))).message).toContain('it is a directory');
    expect((await refusal(read('pipe'))).message).toContain('not a regular file');
    expect((await refusal(read('big'))).message).toContain('1,001 bytes');
    expect((await refusal(read('big/below'))).message).toMatch(/^Not a directory/);
  });

  it('stays inside of the workspace for every path and every tree of links [PP-29]', async () => {
    const name = fc.constantFrom('a', 'b', 'l', '..', '.', '', 'secret.txt', 'outside', '%2e%2e', '~', 'one');
    const path = fc.array(name, { minLength: 1, maxLength: 6 }).map((names) => names.join('/'));
    const target = fc.oneof(
      path,
      path.map((rest) => join(workspace.outside, rest)),
      path.map((rest) => join(workspace.root, rest)),
    );
    await fc.assert(
      fc.asyncProperty(path, target, fc.boolean(), async (tried, linked, nested) => {
        const link = join(workspace.root, nested ? 'a/l' : 'l');
        await mkdir(join(workspace.root, 'a'), { recursive: true });
        await symlink(linked === '' ? '.' : linked, link).catch(() => undefined);
        const got = await read(tried).catch((error: unknown) => error);
        await write(tried, 'written').catch((error: unknown) => expect(error).toBeInstanceOf(ToolError));
        await workspace.remove();
        workspace = await restored(workspace);
        expect(got).not.toBe(SECRET);
        if (typeof got !== 'string') expect(got).toBeInstanceOf(ToolError);
      }),
      { numRuns: 150 },
    );
  });

  it('stays inside of the workspace while another process keeps swapping a folder for a link to the outside [PP-32]', async () => {
    await workspace.put('d/secret.txt', 'mine');
    await workspace.put('spare/secret.txt', 'mine');
    const swapper = await startSwapper(workspace, 'd');
    try {
      const seen = { mine: 0, refused: 0 };
      // Repeats until both are seen: the other process may have to wait for its turn.
      const until = performance.now() + 60_000;
      for (let round = 0; round <= 600 || ((seen.mine === 0 || seen.refused === 0) && performance.now() < until); round += 1) {
        const got = await read('d/secret.txt').catch((error: unknown) => error);
        expect(got).not.toBe(SECRET);
        if (got === 'mine' || got === 'new') seen.mine += 1;
        else seen.refused += 1;
        await write('d/planted.txt', 'new').catch(() => undefined);
      }
      expect(seen.mine).toBeGreaterThan(0);
      expect(seen.refused).toBeGreaterThan(0);
      expect(await readdir(workspace.outside)).toEqual(['secret.txt']);
      expect(await readFile(join(workspace.outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    } finally {
      swapper.stop();
    }
  });
});

describe('writing files of a workspace', () => {
  it('creates missing folders of a written file, leaves nothing else and replaces atomically [PP-29]', async () => {
    await write('new/deep/a.txt', 'one');
    await write('new/deep/a.txt', 'two');
    expect(await read('new/deep/a.txt')).toBe('two');
    expect(await readdir(join(workspace.root, 'new/deep'))).toEqual(['a.txt']);
  });

  it('refuses to write through a link and onto a folder', async () => {
    await workspace.put('d/a.txt', 'old');
    await symlink('d/a.txt', join(workspace.root, 'link'));
    expect((await refusal(write('link', 'new'))).message).toContain('symbolic link');
    expect((await refusal(write('d', 'new'))).message).toContain('it is a directory');
    expect((await refusal(write('.', 'new'))).code).toBe('invalid_arguments');
    expect((await lstat(join(workspace.root, 'link'))).isSymbolicLink()).toBe(true);
    expect(await read('d/a.txt')).toBe('old');
  });

  it('leaves the old content of a file and no rest when a write is aborted [TB-41]', async () => {
    await workspace.put('a.txt', 'old');
    const { directory, name } = await openParent(
      { root: workspace.root, path: parseWorkspacePath(workspace.root, 'a.txt') },
      { create: true },
    );
    const reason = new ToolError('cancelled', 'Cancelled');
    await expect(replaceFile(directory, name, Buffer.from('new'), { signal: AbortSignal.abort(reason), shown: 'a.txt' })).rejects.toBe(
      reason,
    );
    await directory.handle.close();
    expect(await readdir(workspace.root)).toEqual(['a.txt']);
    expect(await read('a.txt')).toBe('old');
  });
});

describe('withPathLock', () => {
  const locked = async <T>(signal: AbortSignal, work: (commit: () => Promise<void>) => Promise<T>): Promise<T> => {
    const directory = await openDirectoryBeneath({ root: workspace.root, path: { names: [], displayPath: '.' } });
    return withPathLock(workspace, directory, 'a.txt', signal, work).finally(() => directory.handle.close());
  };

  it('admits one at a time by the lock of a path, and leaves no lock and nothing visible [TB-41]', async () => {
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 20 }, () =>
        locked(new AbortController().signal, async (commit) => {
          most = Math.max(most, ++inside);
          await commit();
          inside -= 1;
        }),
      ),
    );
    expect(most).toBe(1);
    expect(await readdir(workspace.root)).toEqual([]);
    expect(await readdir(join(workspace.root, '../~locks'))).toEqual([]);
  });

  it('waits for the lock file of another process until the signal ends it', async () => {
    const [file] = await locked(never, () => readdir(join(workspace.root, '../~locks')));
    await writeFile(join(workspace.root, '../~locks', file ?? ''), 'another process');
    const reason = new ToolError('cancelled', 'Cancelled');
    const cancel = new AbortController();
    const waiting = locked(cancel.signal, async () => 'entered');
    cancel.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });

  it('breaks the lock of a killed process, and stops the former holder before its effect', async () => {
    const folder = join(workspace.root, '../~locks');
    await locked(never, async (commit) => {
      const [file = ''] = await readdir(folder);
      await writeFile(join(folder, file), 'killed process');
      await expect(commit()).rejects.toThrow(LockLost);
    });
    const [file = ''] = await readdir(folder);
    await utimes(join(folder, file), 1, 1);
    expect(await locked(never, async () => 'entered')).toBe('entered');
  });
});

async function restored(ws: TestWorkspace): Promise<TestWorkspace> {
  await mkdir(ws.root, { recursive: true });
  await mkdir(ws.outside, { recursive: true });
  await writeFile(join(ws.outside, 'secret.txt'), SECRET);
  return ws;
}

describe('the root of a shared folder', () => {
  it('refuses the root of a shared folder as a file to write, with the name of the folder', async () => {
    const shared = await testWorkspace();
    const roots = [{ path: shared.root, access: 'write' as const, locks: shared.outside }];
    const ctx = fakeToolContext({ workspace: { ...workspace, roots } });
    expect(await textFrom(new FileWriteTool().run({ path: shared.root, content: '' }, ctx))).toBe(
      `Cannot write ${shared.root}: it is a folder. Give the path of a file in it.`,
    );
    await shared.remove();
  });
});
