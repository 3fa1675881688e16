import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { findExecutable } from '../process/find-executable.js';
import { ToolFailure, type ToolContext } from '../tool.port.js';

const STDERR_BYTES = 8_192;
/** Larger files are data, not text to search in; also bounds the length of one output line. */
export const LARGEST_SEARCHED_FILE = '10M';

export interface RipgrepRun {
  readonly args: readonly string[];
  /** The directory to run in: the workspace root. */
  readonly root: string;
  /** Byte that ends a record: `\n` or `\0`. */
  readonly separator: '\n' | '\0';
}

/**
 * The records that ripgrep prints, as they come. Leaving the loop early, an abort or an error ends the process before
 * this settles. Rejects with a ToolFailure for a wrong pattern or a missing ripgrep.
 *
 * ripgrep opens files by path, so a folder exchanged for a symbolic link meanwhile would lead it out of the workspace.
 * Where bubblewrap works it therefore sees nothing but the workspace and `/usr`, both read-only.
 */
export async function* ripgrep(run: RipgrepRun, ctx: Pick<ToolContext, 'signal' | 'env'>): AsyncGenerator<string> {
  ctx.signal.throwIfAborted();
  const path = ctx.env['PATH'] ?? process.env['PATH'];
  const rg = findExecutable(['rg'], path);
  if (rg === undefined) {
    throw new ToolFailure(
      'unavailable',
      'Search is not available: ripgrep (rg) is not installed on this worker. Ask the operator to install the package "ripgrep".',
    );
  }
  const [command, ...args] = await confined(rg, findExecutable(['bwrap'], path), run);
  const child = spawn(command, args, { cwd: run.root, env: { PATH: path ?? '' }, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = endOf(child);
  const kill = (): void => void child.kill('SIGKILL');
  ctx.signal.addEventListener('abort', kill, { once: true });
  try {
    yield* records(child.stdout, run.separator);
    ctx.signal.throwIfAborted();
    const { code, stderr } = await ended;
    if (stderr.startsWith('bwrap:'))
      throw new ToolFailure('unavailable', 'Search is not available: the sandbox could not be set up.', { retryable: true });
    if (code === 2 && stderr !== '')
      throw new ToolFailure('invalid_arguments', `The search is not valid: ${stderr.replace(/^rg: /, '').trim()}`);
  } finally {
    ctx.signal.removeEventListener('abort', kill);
    kill();
    await ended;
  }
}

/** Common to all uses: no user's configuration, no ignore files but the workspace's, no warnings about unreadable files. */
export const COMMON_ARGUMENTS = [
  '--no-config',
  '--no-require-git',
  '--no-ignore-global',
  '--no-messages',
  '--no-ignore-messages',
  '--hidden',
] as const;
/** Never of interest, and given last, where they win: Git's own files and half-written files of this worker. */
export const NEVER_SEARCHED = ['--glob', '!.git', '--glob', '!.toolyard-*.tmp'] as const;

/** Whether bubblewrap can run ripgrep here; asked once for each pair of programs. */
const works = new Map<string, Promise<boolean>>();

async function confined(rg: string, bwrap: string | undefined, run: RipgrepRun): Promise<[string, ...string[]]> {
  // Ignore files above the searched folder count. Only in the sandbox there are surely none above the workspace; without it, the root's alone counts.
  const open: [string, ...string[]] = [rg, '--no-ignore-parent', '--ignore-file', '.gitignore', ...run.args];
  if (bwrap === undefined) return open;
  const key = `${bwrap}\0${rg}`;
  const probe = works.get(key) ?? canConfine(bwrap, rg);
  works.set(key, probe);
  return (await probe) ? [bwrap, ...sandbox(rg, run.root), rg, ...run.args] : open;
}

async function canConfine(bwrap: string, rg: string): Promise<boolean> {
  const child = spawn(bwrap, [...sandbox(rg, '/usr'), rg, '--files', '--max-depth', '1', './'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const { code, stderr } = await endOf(child);
  return stderr === '' && (code === 0 || code === 1);
}

function sandbox(rg: string, root: string): string[] {
  const system = ['/usr', '/bin', '/lib', '/lib64', rg].flatMap((path) => ['--ro-bind-try', path, path]);
  return [
    '--unshare-all',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    '--proc',
    '/proc',
    ...system,
    '--ro-bind',
    root,
    '/workspace',
    '--chdir',
    '/workspace',
    '--',
  ];
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; stderr: string }> {
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr = (stderr + chunk).slice(0, STDERR_BYTES)));
  try {
    await once(child, 'close');
  } catch (error) {
    // The program could not be started at all.
    return { code: null, stderr: error instanceof Error ? error.message : String(error) };
  }
  return { code: child.exitCode, stderr };
}

async function* records(stream: AsyncIterable<Buffer>, separator: string): AsyncGenerator<string> {
  const end = separator.charCodeAt(0);
  let rest: Buffer[] = [];
  for await (const bytes of stream) {
    let from = 0;
    for (let to = bytes.indexOf(end); to >= 0; to = bytes.indexOf(end, from)) {
      yield Buffer.concat([...rest, bytes.subarray(from, to)]).toString('utf8');
      rest = [];
      from = to + 1;
    }
    if (from < bytes.length) rest.push(bytes.subarray(from));
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString('utf8');
}
