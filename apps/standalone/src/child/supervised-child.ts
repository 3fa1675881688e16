import type { ChildProcess } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '#timing';
import { StartupError } from '../start-failure.js';

const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 15_000;
const PAUSES = { firstMs: 100, maxMs: 5_000 };
/** A run this long counts as healthy: the pauses begin again with the first. */
const HEALTHY_MS = 30_000;

export interface SupervisedChildOptions {
  /** Name in messages: `Redis`. */
  readonly name: string;
  readonly launch: () => ChildProcess;
  /** Lets it end with its data on disk. */
  readonly stopSignal: NodeJS.Signals;
  /** Log file to which the child appends. Its last line explains an exit. */
  readonly logPath: string;
  /** Effect of a restart on people: `Calls continue afterwards`. */
  readonly meanwhile: string;
  readonly tell: (line: string) => void;
  /** Runs in a row that end at their start before it is given up; without it there is no limit. */
  readonly mostFailures?: number;
}

/** A server as a child process: restarted when it exits, until `stop`. */
export class SupervisedChild {
  private child: ChildProcess | undefined;
  /** Offset in the log of this run's output. */
  private logStart = 0;
  private failures = 0;
  private readonly stopping = new AbortController();
  private stopped: Promise<void> | undefined;

  constructor(private readonly options: SupervisedChildOptions) {}

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Resolves when `ready` does; its signal is aborted when the child exits or takes too long. @throws StartupError */
  async firstStart(ready: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { name, logPath } = this.options;
    const child = this.spawn();
    const failed = new AbortController();
    const exited = ended(child).then((how) => failed.abort(new StartupError(`${name} did not start (${how}): ${this.lastLine()}`)));
    const late = setTimeout(
      () => failed.abort(new StartupError(`${name} did not answer within ${READY_WITHIN_MS / 1000} s; see ${logPath}`)),
      READY_WITHIN_MS,
    );
    await ready(failed.signal).finally(() => clearTimeout(late));
    void exited.then(() => this.revive(0));
  }

  /** Called when the child has exited: starts it again, until it runs, `stop` is called or it failed too often. */
  private async revive(ranMs: number): Promise<void> {
    if (this.stopping.signal.aborted) return;
    const isHealthy = ranMs > HEALTHY_MS;
    this.failures = isHealthy ? 0 : this.failures + 1;
    const waitMs = backoffMs(Math.max(1, this.failures), PAUSES);
    const { name, meanwhile, tell, mostFailures = Infinity } = this.options;
    const line = this.child?.exitCode === 1 ? this.lastLine() : '';
    const after = `${meanwhile}.${line === '' ? '' : ` It said: ${line}`}`;
    if (this.failures >= mostFailures)
      return tell(`The private ${name} ended ${this.failures} times at its start and is not restarted. ${after}`);
    tell(`The private ${name} exited; restarting it in ${waitMs} ms. ${after}`);
    await delay(waitMs, undefined, { signal: this.stopping.signal }).catch(() => {});
    if (this.stopping.signal.aborted) return;
    const startedAt = performance.now();
    await ended(this.spawn());
    void this.revive(performance.now() - startedAt);
  }

  private spawn(): ChildProcess {
    this.logStart = statSync(this.options.logPath, { throwIfNoEntry: false })?.size ?? 0;
    this.child = this.options.launch();
    return this.child;
  }

  /** Last line of the child's output in this run, without the lines of a stack trace. */
  private lastLine(): string {
    try {
      const lines = readFileSync(this.options.logPath).subarray(this.logStart).toString().split('\n');
      return lines.findLast((line) => line.trim() !== '' && !/^\s+at /.test(line))?.trim() ?? '';
    } catch {
      return `see ${this.options.logPath}`;
    }
  }

  stop(): Promise<void> {
    this.stopped ??= this.end();
    return this.stopped;
  }

  abandon(): void {
    this.stopping.abort();
    this.child?.kill(this.options.stopSignal);
  }

  private async end(): Promise<void> {
    this.stopping.abort();
    const child = this.child;
    if (!child || hasEnded(child)) return;
    const over = ended(child);
    child.kill(this.options.stopSignal);
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await over;
    clearTimeout(force);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** The reason of the exit as text; also if it never started. */
function ended(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
}
