import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ShellTool } from './shell.tool.js';
import { outputOf, textOf } from '../testing/shell-runs.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { BubblewrapSandbox, isWithin, resolveSandboxView } from '#sandbox';
import type { DeniedPaths, Workspace } from '#tool-sdk';

const sandbox = new BubblewrapSandbox();

describe('what a command sees of folders that were opened to it', () => {
  let home: string;
  let workspace: Workspace;

  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'view-')));
    for (const path of [
      'shared/secret/key',
      'shared/open',
      'shared/kept',
      'opened/secret/key',
      'opened/file',
      'tenants/other',
      'tenants/one/.env',
      'tenants/one/own',
    ]) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), path);
    }
    const locks = join(home, 'locks');
    workspace = {
      root: join(home, 'tenants/one'),
      roots: [{ path: join(home, 'shared'), access: 'write', locks }],
      opened: [{ path: join(home, 'opened'), access: 'read', locks }],
      denied: deniedAt({ read: ['shared/secret', 'opened/secret', 'tenants/one/.env'], write: ['shared/kept'] }),
    };
  });
  afterAll(() => rm(home, { recursive: true }));

  /** Denials of folders with their content, but never of the workspace, as in the policy. */
  function deniedAt(paths: Record<'read' | 'write', readonly string[]>): DeniedPaths {
    const covers = (name: string, path: string): boolean => {
      const folder = join(home, name);
      const own = join(home, 'tenants/one');
      return isWithin(path, folder) && !(isWithin(path, own) && isWithin(own, folder));
    };
    return {
      denialReason: (path, access) =>
        [...paths.read, ...(access === 'write' ? paths.write : [])].some((it) => covers(it, path)) ? 'denied' : undefined,
      mayDenyBelow: () => true,
    };
  }

  const run = async (command: string, of = workspace): Promise<string> =>
    textOf(
      outputOf(await new ShellTool(sandbox).run({ command, persistent: false, background: false }, fakeToolContext({ workspace: of }))),
    );

  it('hides denied paths in opened folders, also in write-only ones', async () => {
    const at = (path: string): string => join(home, path);
    const view = await resolveSandboxView(workspace, new AbortController().signal);
    expect(view?.hidden.map(({ path }) => path).toSorted()).toEqual(['opened/secret', 'shared/secret', 'tenants/one/.env'].map(at));
    expect(view?.readOnly.toSorted()).toEqual(['shared/kept', 'shared/secret', 'tenants/one/.env'].map(at));
  });

  it('hides denied folders from a command that names them by a pattern', async () => {
    expect(await run(`cat ${home}/*/s*/key ${home}/shared/open ${home}/opened/file .e*; true`)).not.toMatch(/secret\/key|one\/\.env/);
    expect(await run(`cat ${home}/shared/open ${home}/opened/file own`)).toBe('shared/openopened/filetenants/one/own');
    expect(await run(`echo x > ${home}/shared/k*t || echo y > ${home}/shared/new; cat ${home}/shared/kept ${home}/shared/new`)).toContain(
      'shared/kepty\n',
    );
  });

  it('shows a command the workspace also within a denied folder', async () => {
    const around = { path: home, access: 'write' as const, locks: home };
    const of = { ...workspace, roots: [around], opened: [], denied: deniedAt({ read: ['tenants', 'tenants/one/.env'], write: [] }) };
    expect(await run(`ls -a ${home}/tenants; cat own; echo more > more && cat more`, of)).toBe('.\n..\none\ntenants/one/ownmore\n');
  });
});

describe('looking for what is denied', () => {
  it('lets timers and a cancel through during the search for denied paths', async () => {
    const home = await mkdtemp(join(tmpdir(), 'view-'));
    await Promise.all(Array.from({ length: 200 }, (_, n) => writeFile(join(home, `file-${n}`), '')));
    let asked = 0;
    const slow = (): undefined => {
      asked += 1;
      for (const until = performance.now() + 5; performance.now() < until;);
    };
    const cancel = new AbortController();
    setTimeout(() => cancel.abort(new Error('cancelled')), 50);
    const looking = resolveSandboxView({ root: home, denied: { denialReason: slow, mayDenyBelow: () => true } }, cancel.signal);
    await expect(looking).rejects.toThrow('cancelled');
    expect(asked).toBeLessThan(200);
    await rm(home, { recursive: true });
  });
});
