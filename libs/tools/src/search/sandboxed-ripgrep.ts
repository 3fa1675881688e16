import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { SEARCH_LIMITS, findExecutable, limitCommandPrefix } from '#sandbox';
import type { ToolContext } from '#tool-sdk';

const STDERR_BYTES = 8_192;
/** Options for root: ripgrep can read files of the workspace's owner, and of no other user in these namespaces. */
const AS_READER = ['--unshare-user', '--info-fd', '3', '--userns-block-fd', '4', '--cap-add', 'CAP_DAC_READ_SEARCH'];

/** Cached result of probing bubblewrap with ripgrep, for each pair of programs. */
const works = new Map<string, Promise<boolean>>();

export interface RipgrepCommand {
  readonly words: readonly [string, ...string[]];
  /** User of bwrap, which waits on descriptors 3 and 4 until the owner of the workspace is mapped; see `mapUser`. */
  readonly user?: number;
}

/**
 * Command that runs ripgrep in a workspace. With a working bubblewrap, only the workspace and the system's programs are
 * visible, all read-only and without network, so that no path can lead outside.
 */
export async function sandboxedRipgrep(
  rg: string,
  path: string | undefined,
  run: { root: string; args: readonly string[] },
): Promise<RipgrepCommand> {
  const bwrap = await workingBubblewrap(rg, path);
  if (bwrap !== undefined) {
    const { uid } = await stat(run.root);
    const user = process.getuid?.() === 0 && uid !== 0 ? uid : undefined;
    return {
      words: [bwrap, ...sandbox(rg, run.root, user === undefined ? [] : AS_READER), rg, ...run.args],
      ...(user !== undefined && { user }),
    };
  }
  // Ignore files above the searched folder count. In the sandbox there are none above the workspace; here only the root's counts.
  return { words: [rg, '--no-ignore-parent', '--ignore-file', '.gitignore', ...run.args] };
}

/** True if ripgrep runs in a sandbox. Otherwise its results about a file must be verified before they are returned. */
export async function isRipgrepSandboxed(ctx: Pick<ToolContext, 'env'>): Promise<boolean> {
  const path = ctx.env['PATH'] ?? process.env['PATH'];
  const rg = findExecutable(['rg'], path);
  return rg !== undefined && (await workingBubblewrap(rg, path)) !== undefined;
}

async function workingBubblewrap(rg: string, path: string | undefined): Promise<string | undefined> {
  const bwrap = findExecutable(['bwrap'], path);
  if (bwrap === undefined) return undefined;
  const key = `${bwrap}\0${rg}`;
  const probe = works.get(key) ?? worksWithBubblewrap(bwrap, rg);
  works.set(key, probe);
  return (await probe) ? bwrap : undefined;
}

async function worksWithBubblewrap(bwrap: string, rg: string): Promise<boolean> {
  const command = [bwrap, ...sandbox(rg, '/usr'), rg, '--files', '--max-depth', '1', './'];
  const [file = bwrap, ...args] = [...limitCommandPrefix(SEARCH_LIMITS), ...command];
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const { code, stderr } = await waitForExit(child);
  return stderr === '' && (code === 0 || code === 1);
}

function sandbox(rg: string, root: string, reader: readonly string[] = []): string[] {
  const system = ['/usr', '/bin', '/lib', '/lib64', rg].flatMap((path) => ['--ro-bind-try', path, path]);
  const apart = ['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL', ...reader];
  return [...apart, '--proc', '/proc', ...system, '--ro-bind', root, '/workspace', '--chdir', '/workspace', '--'];
}

/** Exit of a process, with the beginning of its error output. Never rejects. */
export async function waitForExit(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }> {
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr = (stderr + chunk).slice(0, STDERR_BYTES)));
  try {
    await once(child, 'close');
  } catch (error) {
    // The program could not be started at all.
    return { code: null, signal: null, stderr: error instanceof Error ? error.message : String(error) };
  }
  return { code: child.exitCode, signal: child.signalCode, stderr };
}
