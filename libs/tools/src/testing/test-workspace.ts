import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A workspace for tests, inside a folder of its own that also has an `outside` with a secret in it. */
export interface TestWorkspace {
  readonly root: string;
  readonly outside: string;
  put(path: string, content: string | Uint8Array): Promise<void>;
  remove(): Promise<void>;
}

export const SECRET = 'SECRET-of-another-tenant';

export async function testWorkspace(): Promise<TestWorkspace> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'toolyard-ws-')));
  const root = join(home, 'sessions', 'one');
  const outside = join(home, 'outside');
  await mkdir(root, { recursive: true });
  await mkdir(outside, { recursive: true });
  await writeFile(join(outside, 'secret.txt'), SECRET);
  return {
    root,
    outside,
    put: async (path, content) => {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
    },
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

/** Another process that renames a folder away, puts a link to the outside in its place, and back, as fast as it can. */
export async function startSwapper(workspace: TestWorkspace, folder: string): Promise<{ stop(): void }> {
  const script = `
    const { renameSync, rmSync, symlinkSync, unlinkSync } = require('node:fs');
    process.chdir(${JSON.stringify(workspace.root)});
    process.stdout.write('ready');
    for (;;) {
      try {
        renameSync('${folder}', 'hidden');
        symlinkSync(${JSON.stringify(workspace.outside)}, '${folder}');
        unlinkSync('${folder}');
        renameSync('hidden', '${folder}');
      } catch {
        // A writer made a folder of its own while there was none.
        try {
          rmSync('${folder}', { recursive: true, force: true });
          renameSync('hidden', '${folder}');
        } catch {}
      }
    }`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return { stop: () => void child.kill('SIGKILL') };
}
