import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isExecutable } from './find-executable.js';
import { watchForOwnDeath } from './orphan-watch.js';
import { OutputCapture } from './output-capture.js';
import { newTag, processMark } from './process-mark.js';
import { emptied, killAll, living, signalAll, type ProcessTree } from './process-tree.js';

/** A program to start: no shell is put around it. `file` is an absolute path; `env` is all that the child sees. */
export interface ProcessCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ProcessOptions {
  /** Aborting asks the whole tree to stop (SIGTERM) and kills it after the grace. */
  readonly signal: AbortSignal;
  /** Milliseconds, read when the abort comes: a cancel may bring a grace of its own. */
  readonly graceMs: number;
  /** Text kept of each stream; what comes beyond is read, counted and dropped. Default 1,048,576 bytes. */
  readonly captureBytes?: number;
  /** Kept text as it comes; the pieces of a stream joined are its captured text. Must not throw. */
  readonly onText?: (stream: 'stdout' | 'stderr', text: string) => void;
}

/** `stopped` ended after SIGTERM by itself, `killed` needed SIGKILL; both only after an abort. */
export type ProcessEnding =
  | { readonly how: 'exited'; readonly code: number }
  | { readonly how: 'signalled'; readonly signal: NodeJS.Signals }
  | { readonly how: 'stopped' | 'killed'; readonly tookMs: number };

export interface CapturedOutput {
  readonly text: string;
  /** All bytes the program wrote, kept or not. */
  readonly bytes: number;
  readonly truncated: boolean;
}

export interface ProcessReport {
  readonly ending: ProcessEnding;
  readonly durationMs: number;
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

type Child = ChildProcessByStdio<null, Readable, Readable>;
type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

const DEFAULT_CAPTURE_BYTES = 1_048_576;
/** How long a finished program's background children may hold its pipes before they are killed and the pipes closed. */
const DRAIN_MS = 250;
/** Reading what nobody keeps must not take the event loop from the rest: 5 ms of rest a MiB. */
const PACE_BYTES = 1_048_576;
const PACE_REST_MS = 5;

/**
 * Runs one program to its end and leaves nothing behind.
 *
 * 1. start it in a session and process group of its own, marked, with no input and only the given environment
 * 2. read both streams at once, keeping the beginning of each
 * 3. on abort: SIGTERM to the whole tree, after the grace SIGKILL
 * 4. when the program has ended, give its pipes a moment to run dry, kill what it left behind, close the pipes
 *
 * When the promise settles no process of the run is alive, also none that called `setsid`. Rejects with a
 * ProcessStartError when the program could not start, and with the abort reason when `signal` was aborted before.
 */
export async function runProcess(command: ProcessCommand, options: ProcessOptions): Promise<ProcessReport> {
  options.signal.throwIfAborted();
  const startedAt = performance.now();
  const { child, tree, exited } = await start(command);
  const captured = capture(child, options);
  const stop = stopOnAbort(tree, options);
  const exit = await Promise.race([exited, stop.hopeless]);
  const stopped = await stop.finished();
  if (stopped === undefined) await within(DRAIN_MS, captured.closed);
  const leftAlive = await killAll(tree);
  await within(DRAIN_MS, captured.closed);
  return { ending: stopped ?? endingOf(exit), durationMs: Math.round(performance.now() - startedAt), ...captured.finish(), leftAlive };
}

async function start(command: ProcessCommand): Promise<{ child: Child; tree: ProcessTree; exited: Promise<Exit> }> {
  checkStartable(command);
  watchForOwnDeath();
  const mark = processMark();
  const tag = newTag();
  const [file = command.file, ...args] = [...mark.prefix(tag), command.file, ...command.args];
  try {
    const child = spawn(file, args, {
      cwd: command.cwd,
      env: { ...command.env, ...mark.env(tag) },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    return { child, exited, tree: { leader: child.pid ?? 0, mark, tag } };
  } catch (error) {
    throw startError(error);
  }
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

function capture(child: Child, options: ProcessOptions) {
  const follow = (name: 'stdout' | 'stderr') => {
    const output = new OutputCapture(options.captureBytes ?? DEFAULT_CAPTURE_BYTES, (text) => options.onText?.(name, text));
    read(child[name], output);
    return (): CapturedOutput => {
      child[name].destroy();
      output.end();
      return { text: output.text, bytes: output.bytes, truncated: output.truncated };
    };
  };
  const stdout = follow('stdout');
  const stderr = follow('stderr');
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return { closed, finish: () => ({ stdout: stdout(), stderr: stderr() }) };
}

function read(pipe: Readable, output: OutputCapture): void {
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

interface StopOnAbort {
  /** How the abort ended the tree, or undefined when there was none; later aborts are ignored from then on. */
  readonly finished: () => Promise<ProcessEnding | undefined>;
  /** Resolves when even SIGKILL did not end the program in time, so that nobody waits for its exit for ever. */
  readonly hopeless: Promise<Exit>;
}

function stopOnAbort(tree: ProcessTree, options: ProcessOptions): StopOnAbort {
  const { signal } = options;
  let stopping: Promise<ProcessEnding> | undefined;
  const { promise: hopeless, resolve: giveUp } = promiseOfExit();
  const onAbort = () => {
    stopping = stopTree(tree, options.graceMs);
    void stopping.then(() => living(tree).length > 0 && giveUp({ code: null, signal: 'SIGKILL' }));
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    hopeless,
    finished: () => {
      signal.removeEventListener('abort', onAbort);
      return stopping ?? Promise.resolve(undefined);
    },
  };
}

async function stopTree(tree: ProcessTree, graceMs: number): Promise<ProcessEnding> {
  const askedAt = performance.now();
  signalAll(tree, 'SIGTERM');
  const how = (await emptied(tree, graceMs)) ? 'stopped' : 'killed';
  await killAll(tree);
  return { how, tookMs: Math.round(performance.now() - askedAt) };
}

function endingOf({ code, signal }: Exit): ProcessEnding {
  return signal === null ? { how: 'exited', code: code ?? -1 } : { how: 'signalled', signal };
}

function promiseOfExit(): { promise: Promise<Exit>; resolve: (exit: Exit) => void } {
  let resolve: (exit: Exit) => void = () => undefined;
  const promise = new Promise<Exit>((settle) => (resolve = settle));
  return { promise, resolve };
}

async function within(ms: number, done: Promise<void>): Promise<void> {
  const timer = new AbortController();
  await Promise.race([done, sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
}
