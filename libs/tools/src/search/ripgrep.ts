import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { SEARCH_LIMITS, findExecutable, limitCommandPrefix, mapUser } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { sandboxedRipgrep, waitForExit } from './sandboxed-ripgrep.js';

/** Larger files are data, not text to search in; also bounds the length of one output line. */
export const LARGEST_SEARCHED_BYTES = 10 * 1_048_576;

/** ripgrep names each match of a line: a letter that a long line has a million times makes a record of 50 MB. */
const MOST_RECORD_BYTES = 32 * 1_048_576;

export interface RipgrepRun {
  readonly args: readonly string[];
  /** The directory to run in: the workspace root. */
  readonly root: string;
  /** Byte that ends a record: `\n` or `\0`. */
  readonly separator: '\n' | '\0';
}

/**
 * The records that ripgrep prints, as they come. Leaving the loop early, an abort or an error ends the process before
 * this settles. Rejects with a ToolError for a wrong pattern or a missing ripgrep.
 *
 * ripgrep opens files by path, so a folder exchanged for a symbolic link meanwhile would lead it out of the workspace:
 * see `sandboxedRipgrep` for where that is excluded, and `ReadVerifier` for what is done elsewhere.
 */
export async function* ripgrep(run: RipgrepRun, ctx: Pick<ToolContext, 'signal' | 'env'>): AsyncGenerator<string> {
  ctx.signal.throwIfAborted();
  const path = ctx.env['PATH'] ?? process.env['PATH'];
  const rg = findExecutable(['rg'], path);
  if (rg === undefined) {
    throw new ToolError(
      'unavailable',
      'Search is not available: ripgrep (rg) is not installed on this worker. Ask the operator to install the package "ripgrep".',
    );
  }
  const { words, user } = await sandboxedRipgrep(rg, path, run);
  const [command = rg, ...args] = [...limitCommandPrefix(SEARCH_LIMITS), ...words];
  const pipes = user === undefined ? [] : (['pipe', 'pipe'] as const);
  const stdio = ['ignore', 'pipe', 'pipe', ...pipes] as const;
  const child = spawn(command, args, { cwd: run.root, env: { PATH: path ?? '' }, stdio: [...stdio], detached: true });
  const ended = waitForExit(child);
  const kill = (): void => killGroup(child);
  ctx.signal.addEventListener('abort', kill, { once: true });
  try {
    if (user !== undefined) await mapUser(child, 3, user);
    if (child.stdout !== null) yield* records(child.stdout, run.separator);
    throwIfStopped(ctx.signal);
    const { code, signal, stderr } = await ended;
    if (stderr.startsWith('bwrap:'))
      throw new ToolError('unavailable', 'Search is not available: the sandbox could not be set up.', { retryable: true });
    const overrun = exceededLimit(code, signal);
    if (overrun !== undefined) throw new ToolError('tool_failed', overrun, { retryable: false });
    if (code === 2 && stderr !== '') throw new ToolError('invalid_arguments', `The search is not valid: ${errorMessage(stderr)}`);
  } finally {
    ctx.signal.removeEventListener('abort', kill);
    kill();
    await ended;
  }
}

/** A bwrap killed before its users are mapped leaves a process that waits for it forever: kills the whole group. */
function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Ended in the meantime.
  }
}

/** Throws the reason of an abort; not retryable after a timeout, since a second run would also time out. */
function throwIfStopped(signal: AbortSignal): void {
  const reason: unknown = signal.reason;
  if (signal.aborted && reason instanceof ToolError && reason.code === 'run_timeout')
    throw new ToolError('run_timeout', 'The search timed out. Search in fewer files or for a simpler expression.', { retryable: false });
  signal.throwIfAborted();
}

/** Exceeded limit, if the kernel ended the program. Bubblewrap returns 128 + the signal. */
function exceededLimit(code: number | null, signal: NodeJS.Signals | null): string | undefined {
  const number = signal === null ? (code ?? 0) - 128 : constants.signals[signal];
  if (number === constants.signals.SIGXCPU)
    return `The search used more than ${SEARCH_LIMITS.cpuSeconds} seconds of processor time. Search in fewer files or for a simpler expression.`;
  if (number === constants.signals.SIGABRT || number === constants.signals.SIGSEGV)
    return 'The search needed more memory than it may use. Search for a simpler expression.';
  return undefined;
}

/** Error without the program's advice about flags, which the model cannot set. */
function errorMessage(stderr: string): string {
  return stderr
    .replace(/^rg: /, '')
    .replace(/Compiled regex exceeds size limit of \d+ bytes\./, 'the expression is too large: repeat less, or search for a part of it')
    .replace(/\s*Consider enabling multiline mode.*/s, ': a match is within one line unless multiline is true')
    .trim();
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

/** Complete records; skips an unended last one, at which the program was ended. @throws ToolError for a record that is too long */
async function* records(stream: AsyncIterable<Buffer>, separator: string): AsyncGenerator<string> {
  const end = separator.charCodeAt(0);
  let rest: Buffer[] = [];
  let bytesOfRest = 0;
  for await (const bytes of stream) {
    let from = 0;
    for (let to = bytes.indexOf(end); to >= 0; to = bytes.indexOf(end, from)) {
      yield Buffer.concat([...rest, bytes.subarray(from, to)]).toString('utf8');
      rest = [];
      bytesOfRest = 0;
      from = to + 1;
    }
    rest.push(bytes.subarray(from));
    bytesOfRest += bytes.length - from;
    if (bytesOfRest > MOST_RECORD_BYTES)
      throw new ToolError(
        'tool_failed',
        'A line is too long, or has too many matches, to be read. Search for a longer text, for files_with_matches, or leave its file out by include.',
        { retryable: false },
      );
  }
}
