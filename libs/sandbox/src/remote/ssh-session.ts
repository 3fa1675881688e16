import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ResourceLimits } from '../process/resource-limits.js';
import { OutputCapture, type CapturedOutput } from '../process/output-capture.js';
import { killAll, type ProcessTree } from '../process/process-tree.js';
import { read, start, type ProcessCommand } from '../process/run-process.js';
import { TerminalScreen } from '../process/terminal-screen.js';
import { MarkedStream } from './marked-stream.js';
import { READY, type RemoteCommand, STOP_WORDS, startLine } from './supervisor.js';
import { sshFailure, type SshFailure } from './ssh-failure.js';

const CAPTURE_BYTES = 1_048_576;
const ALIVE_MS = 10_000;
/** Lines that ssh writes to stderr on a lost connection, in spite of its log file. */
const LOST_LINES = ['Connection to ', 'Read from remote host '];
/** Time after SIGKILL on the host until the connection itself is closed. */
const GIVE_UP_MS = 5_000;

export interface RemoteOptions {
  /** Aborting sends SIGTERM to the command and SIGKILL after the grace period. */
  readonly signal: AbortSignal;
  /** Milliseconds, read when the abort comes. */
  readonly graceMs: number;
  /** Kept text as it comes. Must not throw. */
  readonly onText: (stream: 'stdout' | 'stderr', text: string, cut: boolean) => void;
}

/** End of a connection. `said`: the last line of the supervisor; undefined if the connection was lost before. */
export interface SessionEnd {
  readonly said: string | undefined;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  /** Milliseconds from the abort to the end. */
  readonly stopped: { readonly tookMs: number; readonly killed: boolean } | undefined;
}

/** Connection to a host, for one command. Releases everything in this process before `run` or `close` settles. */
export class SshSession {
  private readonly mark = randomBytes(16).toString('hex');
  private readonly streams: { readonly marked: MarkedStream; readonly kept: OutputCapture }[];
  private readonly ready: Promise<void>;
  private readonly closed: Promise<void>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly tree: ProcessTree,
    private readonly log: string,
    private readonly onText: RemoteOptions['onText'],
  ) {
    let missing = 2;
    let begin: () => void;
    this.ready = new Promise((resolve) => (begin = resolve));
    const onReady = () => {
      missing -= 1;
      if (missing === 0) begin();
    };
    this.streams = [this.follow('stdout', undefined, onReady), this.follow('stderr', this.mark, onReady)];
    this.closed = new Promise((resolve) => child.once('close', () => resolve()));
  }

  /**
   * Resolves when the host is ready to start a command; a failure is one of the connection. `log` is the file of ssh itself.
   * Rejects with the reason of an abort.
   */
  static async open(
    command: ProcessCommand,
    log: string,
    signal: AbortSignal,
    onText: RemoteOptions['onText'],
  ): Promise<SshSession | SshFailure> {
    signal.throwIfAborted();
    const { child, tree } = await start(command, undefined, 'pipe');
    const session = new SshSession(child, tree, log, onText);
    const onAbort = () => void session.close();
    signal.addEventListener('abort', onAbort, { once: true });
    const isReady = await Promise.race([session.ready.then(() => true), session.closed.then(() => false)]);
    signal.removeEventListener('abort', onAbort);
    if (isReady && !signal.aborted) return session;
    const said = session.logged() + session.stderr.marked.preamble;
    await session.close();
    signal.throwIfAborted();
    return sshFailure(said, `exit ${child.exitCode ?? 'by a signal'}`);
  }

  /** Starts the command, at most once, and waits for its end. From here on a lost connection leaves its effects unknown. */
  async run(run: RemoteCommand, limits: ResourceLimits, options: RemoteOptions): Promise<SessionEnd> {
    const alive = setInterval(() => this.say(STOP_WORDS.alive), ALIVE_MS);
    const tag = randomBytes(8).toString('hex');
    this.say(startLine(run, { mark: this.mark, tag }, limits));
    const stop = this.stopper(options);
    options.signal.addEventListener('abort', stop.begin, { once: true });
    if (options.signal.aborted) stop.begin();
    await this.closed;
    options.signal.removeEventListener('abort', stop.begin);
    clearInterval(alive);
    await this.close();
    const [stdout, stderr] = this.streams.map(({ marked, kept }) => {
      marked.finish();
      kept.end();
      return kept.captured;
    });
    if (stdout === undefined || stderr === undefined) throw new Error('a stream of the connection is missing');
    return { said: this.stderr.marked.trailer, stdout, stderr, stopped: stop.state() };
  }

  /** Ends the connection; the host then ends its processes. Idempotent. */
  async close(): Promise<void> {
    this.child.stdin?.destroy();
    await killAll(this.tree);
    await this.closed;
    rmSync(this.log, { force: true });
  }

  private logged(): string {
    try {
      return readFileSync(this.log, 'utf8');
    } catch {
      return '';
    }
  }

  private get stderr() {
    const stderr = this.streams[1];
    if (stderr === undefined) throw new Error('stderr of the connection is missing');
    return stderr;
  }

  private say(line: string): void {
    if (this.child.stdin?.writable === true) this.child.stdin.write(line);
  }

  private follow(name: 'stdout' | 'stderr', mark: string | undefined, onReady: () => void) {
    const kept = new OutputCapture(CAPTURE_BYTES, (text, cut) => this.onText(name, text, cut), new TerminalScreen());
    const marked = new MarkedStream(READY, mark, (bytes) => kept.accept(bytes), onReady, LOST_LINES);
    const pipe = this.child[name];
    if (pipe === null) throw new Error(`${name} of ssh is missing`);
    read(pipe, {
      accept: (chunk) => marked.accept(chunk),
      get truncated() {
        return kept.truncated;
      },
    });
    return { marked, kept };
  }

  /** SIGTERM, after the grace SIGKILL, and then the connection itself. */
  private stopper(options: RemoteOptions) {
    let [beganAt, killed]: [number | undefined, boolean] = [undefined, false];
    const ended = new AbortController();
    void this.closed.then(() => ended.abort());
    const stop = async () => {
      beganAt = performance.now();
      this.say(STOP_WORDS.ask);
      await sleep(options.graceMs, undefined, { signal: ended.signal });
      killed = true;
      this.say(STOP_WORDS.kill);
      await sleep(GIVE_UP_MS, undefined, { signal: ended.signal });
      await killAll(this.tree);
    };
    return {
      // Rejects when the connection has ended in between: nothing is left to do.
      begin: () => void stop().catch(() => undefined),
      state: () => (beganAt === undefined ? undefined : { tookMs: Math.round(performance.now() - beganAt), killed }),
    };
  }
}
