import { spawn, type ChildProcess } from 'node:child_process';
import { statSync } from 'node:fs';
import { Duplex, type Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isExecutable } from './find-executable.js';
import { startParentDeathWatchdog } from './parent-death-watchdog.js';
import { OutputCapture, type CapturedOutput } from './output-capture.js';
import type { Exit, ExitStatus } from './exit-status.js';
import { newTag, processTagMethod } from './process-tag.js';
import { openControlGroup, type ControlGroup } from './control-groups.js';
import { killAll, type ProcessTree } from './process-tree.js';
import type { ResourceLimits } from './resource-limits.js';
import { processTreeKiller } from './process-tree-killer.js';
import { TerminalScreen } from './terminal-screen.js';
import { mapUser } from './user-map.js';

/** A program to start: no shell is put around it. `file` is an absolute path; `env` is all that the child sees. */
export interface ProcessCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits?: ResourceLimits;
  /** True if the program only holds others (a sandbox) and ends with them: SIGTERM is not sent to it. */
  readonly isSandbox?: boolean;
  /** Open files that the program gets as descriptors 3, 4, ...; the caller closes its own. */
  readonly files?: readonly number[];
  /** Standard input; empty by default. A program need not read it to its end. */
  readonly input?: string;
  /** Gives the program one more descriptor, after `files`, whose output is passed to `onExtra`. */
  readonly extraPipe?: boolean;
  /** The program, which is bwrap, gets one more descriptor (`nextDescriptor`), and reads these bytes from it. */
  readonly filter?: Uint8Array;
  /** Two more descriptors, by which bwrap waits until its users are mapped; see `user-map.ts`. The user's id outside. */
  readonly user?: number;
}

/** The number of the first descriptor after those of the command. */
export function nextDescriptor({ files = [], extraPipe = false }: Pick<ProcessCommand, 'files' | 'extraPipe'>): number {
  return FIRST_DESCRIPTOR + files.length + (extraPipe ? 1 : 0);
}

export interface ProcessOptions {
  /** Aborting sends SIGTERM to the whole tree and SIGKILL after the grace period. */
  readonly signal: AbortSignal;
  /** Milliseconds, read when the abort comes: a cancel may bring a grace of its own. */
  readonly graceMs: number;
  /** Most bytes stored of the beginning of each stream; of the rest, the end is stored. Default 1,048,576 bytes. */
  readonly captureBytes?: number;
  /** Keeps the text that a terminal shows in the end; `onText` gets all of it as it comes. Default: text as it came. */
  readonly isTerminal?: boolean;
  /** Receives output of the extra pipe immediately. Must not throw. */
  readonly onExtra?: (chunk: Buffer) => void;
  /**
   * Receives the beginning of the output immediately; without `isTerminal`, the joined pieces of a stream equal its captured
   * `text`. `cut`: last piece, followed by more output. Must not throw.
   */
  readonly onText?: (stream: 'stdout' | 'stderr', text: string, cut: boolean) => void;
}

export interface ProcessReport {
  /** Process id on this machine, of the program or of the sandbox that holds it. Absent for a program that ran elsewhere. */
  readonly pid?: number | undefined;
  /** Start time, by the clock of this process. */
  readonly startedAt: Date;
  readonly exit: ExitStatus;
  readonly durationMs: number;
  /** CPU time of the program and all that it started, in milliseconds; absent where no control group counts it. */
  readonly cpuMs?: number;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  /** Processes the kernel would not let die: always empty unless a device hangs. */
  readonly leftAlive: readonly number[];
}

/** The program never ran. The message has no path of this machine. */
export class ProcessStartError extends Error {
  override readonly name = 'ProcessStartError';
  constructor(
    readonly reason: 'no_program' | 'no_folder' | 'too_long' | 'invalid' | 'system',
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** First descriptor after the standard ones. */
const FIRST_DESCRIPTOR = 3;
const DEFAULT_CAPTURE_BYTES = 1_048_576;
/** Time for which background children of a finished program may hold its pipes before they are killed and the pipes closed. */
const DRAIN_MS = 250;
/** Reading discarded output must not block the event loop: a pause of 5 ms after each MiB. */
const PACE_BYTES = 1_048_576;
const PACE_REST_MS = 5;

/**
 * Runs one program to its end and leaves nothing behind.
 *
 * 1. start it in a session and process group of its own, marked and limited, with only the given input and environment
 * 2. read both streams at once, keeping beginning and end of each
 * 3. on abort: SIGTERM to the whole tree, after the grace SIGKILL; on too many processes or too much memory SIGKILL
 * 4. when the program has ended, give its pipes a moment to run dry, kill what it left behind, close the pipes
 *
 * When the promise settles no process of the run is alive, also none that called `setsid`. Rejects with a
 * ProcessStartError when the program could not start, and with the abort reason when `signal` was aborted before.
 */
export async function runProcess(command: ProcessCommand, options: ProcessOptions): Promise<ProcessReport> {
  options.signal.throwIfAborted();
  const startedAt = performance.now();
  const group = command.limits && openControlGroup(command.limits);
  try {
    return await runIn(group, command, options, startedAt);
  } finally {
    // Runs on without waiting: an ended process leaves its group a moment later.
    void group?.close();
  }
}

async function runIn(
  group: ControlGroup | undefined,
  command: ProcessCommand,
  options: ProcessOptions,
  startedAt: number,
): Promise<ProcessReport> {
  const { child, tree, exited } = await start(command, group);
  const begun = { pid: child.pid, startedAt: new Date() };
  const captured = capture(command, child, options);
  const stopper = processTreeKiller(tree, options, command.limits, group);
  const exit = await Promise.race([exited, stopper.unkillable]);
  const stopped = await stopper.stop(exit);
  if (stopped === undefined) await within(DRAIN_MS, captured.closed);
  const leftAlive = await killAll(tree);
  await within(DRAIN_MS, captured.closed);
  const cpuMs = group?.cpuMs();
  return {
    ...begun,
    exit: stopped ?? exitStatusOf(exit),
    durationMs: Math.round(performance.now() - startedAt),
    ...(cpuMs === undefined ? {} : { cpuMs }),
    ...captured.finish(),
    leftAlive,
  };
}

interface Started {
  readonly child: ChildProcess;
  readonly tree: ProcessTree;
  readonly exited: Promise<Exit>;
}

/** Starts a process, shared with `start-process.ts`. With `stdin` its input stays open. */
export async function start(command: ProcessCommand, group: ControlGroup | undefined, stdin?: 'pipe'): Promise<Started> {
  checkStartable(command);
  startParentDeathWatchdog();
  const mark = processTagMethod();
  const tag = newTag();
  const words = [...mark.commandPrefix(tag, command.limits), ...(group?.commandPrefix ?? []), command.file, ...command.args];
  const [file = command.file, ...args] = words;
  try {
    const child = spawn(file, args, {
      cwd: command.cwd,
      env: { ...command.env, ...mark.env(tag) },
      detached: true,
      stdio: [
        command.input === undefined && stdin === undefined ? 'ignore' : 'pipe',
        'pipe',
        'pipe',
        ...(command.files ?? []),
        ...(command.extraPipe ? (['pipe'] as const) : []),
        ...(command.filter === undefined ? [] : (['pipe'] as const)),
        ...(command.user === undefined ? [] : (['pipe', 'pipe'] as const)),
      ],
    });
    const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    child.stdin?.on('error', () => undefined);
    if (stdin === undefined) child.stdin?.end(command.input);
    await setUpSandbox(child, command).catch((error: unknown) => {
      // Kills the whole group, since processes started by bwrap wait for it.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      throw error;
    });
    const leaderRuns = () => child.exitCode === null && child.signalCode === null;
    return {
      child,
      exited,
      tree: { leader: child.pid ?? 0, tagMethod: mark, tag, controlGroup: group, leaderIsSandbox: command.isSandbox === true, leaderRuns },
    };
  } catch (error) {
    throw startError(error);
  }
}

/** Gives bwrap its filter and its users. @throws where its users cannot be mapped */
async function setUpSandbox(child: ChildProcess, command: ProcessCommand): Promise<void> {
  const first = nextDescriptor(command);
  const pipe = command.filter === undefined ? undefined : child.stdio[first];
  if (pipe instanceof Duplex) pipe.on('error', () => undefined).end(command.filter, () => pipe.destroy());
  if (command.user !== undefined) await mapUser(child, first + (command.filter === undefined ? 0 : 1), command.user);
}

/** The marking program starts the real one, so a missing program or folder would only show as its exit code. */
function checkStartable({ file, cwd }: ProcessCommand): void {
  if (!isExecutable(file)) throw new ProcessStartError('no_program', 'the program is not installed or not executable');
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw new ProcessStartError('no_folder', 'the working directory is not a directory');
}

function startError(error: unknown): ProcessStartError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
  if (code === 'E2BIG') return new ProcessStartError('too_long', 'the command or the environment is longer than the system takes', error);
  if (code === 'ERR_INVALID_ARG_VALUE') return new ProcessStartError('invalid', 'the command contains a NUL character', error);
  return new ProcessStartError('system', `the system refused to start a process (${code})`, error);
}

function capture(command: ProcessCommand, child: ChildProcess, options: ProcessOptions) {
  const follow = (name: 'stdout' | 'stderr') => {
    const screen = options.isTerminal ? new TerminalScreen() : undefined;
    const onText = (text: string, cut: boolean) => options.onText?.(name, text, cut);
    const output = new OutputCapture(options.captureBytes ?? DEFAULT_CAPTURE_BYTES, onText, screen);
    const pipe = child[name];
    if (pipe) read(pipe, output);
    return (): CapturedOutput => {
      pipe?.destroy();
      output.end();
      return output.captured;
    };
  };
  const extra = command.extraPipe ? child.stdio[FIRST_DESCRIPTOR + (command.files?.length ?? 0)] : undefined;
  extra?.on('error', () => undefined);
  extra?.on('data', (chunk: Buffer) => options.onExtra?.(chunk));
  const stdout = follow('stdout');
  const stderr = follow('stderr');
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return { closed, finish: () => (extra?.destroy(), { stdout: stdout(), stderr: stderr() }) };
}

/** Reads a pipe to its end; where nothing is kept any more, with pauses. */
export function read(pipe: Readable, output: Pick<OutputCapture, 'accept' | 'truncated'>): void {
  let sinceRest = 0;
  pipe.on('error', () => undefined);
  pipe.on('data', (chunk: Buffer) => {
    output.accept(chunk);
    sinceRest += output.truncated ? chunk.length : 0;
    if (sinceRest < PACE_BYTES) return;
    sinceRest = 0;
    pipe.pause();
    setTimeout(() => pipe.resume(), PACE_REST_MS);
  });
}

function exitStatusOf({ code, signal }: Exit): ExitStatus {
  return signal === null ? { how: 'exited', code: code ?? -1 } : { how: 'signalled', signal };
}

async function within(ms: number, done: Promise<void>): Promise<void> {
  const timer = new AbortController();
  await Promise.race([done, sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
}
