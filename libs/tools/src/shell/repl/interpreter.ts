import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type CapturedOutput, type ProcessCommand, type RunningProcess, startProcess } from '#sandbox';
import { MarkedOutput } from './marked-output.js';

/** An interpreter that does not take up the code in this time is killed instead of interrupted. */
const BEGIN_MS = 4_000;
/** Code that has not ended by then is interrupted again, since node:vm misses an interrupt just before the code. */
const INTERRUPT_AGAIN_MS = 1_000;
/** Time from the first interrupt until the interpreter is killed. */
const INTERRUPT_MS = 2_000;
/** A paused program could not react to SIGTERM, and the state of an interpreter that is stopped counts no more. */
const STOP_GRACE_MS = 0;

const NOTHING: CapturedOutput = { text: '', tail: '', bytes: 0, shownBytes: 0, truncated: false, hasGap: false };
/** Report of code that was aborted before its turn. */
export const NOT_RUN: CodeReport = { how: 'interrupted', stdout: NOTHING, stderr: NOTHING, durationMs: 0, cpuMs: 0 };

const Answer = z.object({ value: z.string().optional(), error: z.string().optional(), interrupted: z.boolean().optional() });

export interface CodeRun {
  readonly code: string;
  /** Aborting interrupts the code; an interpreter that does not react is killed. */
  readonly signal: AbortSignal;
  readonly onText: (stream: 'stdout' | 'stderr', text: string, cut: boolean) => void;
}

/** Outcome of code. */
export interface CodeReport {
  /** `ended`: the interpreter has ended, and its state is lost; `why` has the reason. */
  readonly how: 'done' | 'interrupted' | 'ended';
  readonly why?: string;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  /** Value of the last expression. */
  readonly value?: string;
  /** Error with the frames of the code. */
  readonly error?: string;
  readonly durationMs: number;
  /** CPU time of the code, and of what earlier code left running; absent where it is not known. */
  readonly cpuMs?: number | undefined;
}

/** An interpreter process that runs code in one namespace, one piece after the other. */
export class Interpreter {
  private readonly stdout: MarkedOutput;
  private readonly stderr: MarkedOutput;
  private before: Promise<unknown> = Promise.resolve();
  private gone: string | undefined;
  /** Runs that are under way or wait. */
  busy = 0;
  lastUsed = performance.now();

  private constructor(private readonly running: RunningProcess) {
    this.stdout = new MarkedOutput(running.stdout, true);
    this.stderr = new MarkedOutput(running.stderr, false);
    void running.ended.then((how) => (this.gone = how));
    // SIGINT would end a program that still starts: code, and an interrupt of it, come after a first answer.
    this.before = this.runNow({ code: '', signal: new AbortController().signal, onText: () => undefined });
  }

  /** Rejects with a ProcessStartError when the program cannot start. */
  static async start(command: ProcessCommand): Promise<Interpreter> {
    return new Interpreter(await startProcess(command, STOP_GRACE_MS));
  }

  /** Reason for the end; undefined while the interpreter runs. */
  get endedBecause(): string | undefined {
    return this.gone;
  }

  /** Resolves when it ended by itself, or was stopped. */
  get ended(): Promise<string> {
    return this.running.ended;
  }

  /** Runs code after earlier runs; skips code whose signal aborts before. Never rejects. */
  async run(run: CodeRun): Promise<CodeReport> {
    this.busy += 1;
    const { before } = this;
    const result = Promise.race([before, abortOf(run.signal)]).then(() => this.runNow(run));
    this.before = Promise.all([before, result]).then(() => undefined);
    try {
      return await result;
    } finally {
      this.busy -= 1;
      this.lastUsed = performance.now();
    }
  }

  /** Stops it where it is, with all that it started, until the next run. Does nothing while runs wait. Never rejects. */
  async pause(): Promise<void> {
    if (this.busy > 0) return;
    this.before = this.before.then(() => (this.busy > 0 ? undefined : this.running.pause()));
    await this.before;
  }

  /** Kills it. Idempotent. */
  stop(): Promise<void> {
    return this.running.stop();
  }

  private async runNow({ code, signal, onText }: CodeRun): Promise<CodeReport> {
    const startedAt = performance.now();
    const durationMs = () => Math.round(performance.now() - startedAt);
    if (signal.aborted) return NOT_RUN;
    const nonce = randomBytes(16).toString('hex');
    let onBegin: () => void = () => undefined;
    const stopInterrupts = this.interruptOn(signal, new Promise((resolve) => (onBegin = resolve)));
    const both = Promise.all([
      this.stdout.until(nonce, (text, cut) => onText('stdout', text, cut), onBegin),
      this.stderr.until(nonce, (text, cut) => onText('stderr', text, cut)),
    ]);
    this.running.resume();
    this.running.stdin.write(`${JSON.stringify({ nonce, code })}\n`);
    const done = await Promise.race([both, this.running.ended]);
    stopInterrupts();
    if (typeof done === 'string') {
      return {
        how: 'ended',
        why: done,
        stdout: this.stdout.captured,
        stderr: this.stderr.captured,
        durationMs: durationMs(),
        cpuMs: this.running.takeCpuMs(),
      };
    }
    const [out, err] = done;
    const { value, error, interrupted } = answerOf(out.answer);
    return {
      how: interrupted === true ? 'interrupted' : 'done',
      stdout: out.output,
      stderr: err.output,
      ...(value === undefined ? {} : { value }),
      ...(error === undefined ? {} : { error }),
      durationMs: durationMs(),
      cpuMs: this.running.takeCpuMs(),
    };
  }

  /** SIGINT on the abort, when the code has begun, and a kill when that does not help. Returns how to end the watch. */
  private interruptOn(signal: AbortSignal, begun: Promise<void>): () => void {
    const over = new AbortController();
    const wait = (ms: number) => sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
    const onAbort = async () => {
      await Promise.race([begun, wait(BEGIN_MS)]);
      for (const ms of [INTERRUPT_AGAIN_MS, INTERRUPT_MS - INTERRUPT_AGAIN_MS]) {
        if (over.signal.aborted) return;
        this.running.interrupt();
        await wait(ms);
      }
      if (!over.signal.aborted) await this.stop();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return () => {
      over.abort();
      signal.removeEventListener('abort', onAbort);
    };
  }
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Code may write anything to the streams, but only into its own response. */
function answerOf(text: string): z.output<typeof Answer> {
  try {
    return Answer.safeParse(JSON.parse(text)).data ?? { error: 'the interpreter gave an answer that cannot be read' };
  } catch {
    return { error: 'the interpreter gave an answer that cannot be read' };
  }
}
