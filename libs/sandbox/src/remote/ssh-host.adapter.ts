import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RemoteHostSettings } from '#contracts';
import { ToolError } from '#tool-sdk';
import { DEFAULT_LIMITS } from '../isolation/default-limits.js';
import type { ResourceLimits } from '../process/resource-limits.js';
import type { CapturedOutput } from '../process/output-capture.js';
import { type ProcessReport, ProcessStartError } from '../process/run-process.js';
import { sshArguments, type SshFiles } from './ssh-command.js';
import type { SshFailure } from './ssh-failure.js';
import { type RemoteOptions, SshSession } from './ssh-session.js';
import type { RemoteCommand } from './supervisor.js';

/** Pauses before the second and later connections; where all fail, the call does. */
const PAUSES_MS = [250, 1_000, 3_000];
/** No connection is begun after this time. */
const CONNECT_MS = 20_000;
const PROBE_MS = 15_000;

/** Last known availability of a host. */
export interface RemoteHostState {
  readonly ok: boolean;
  /** Reason for unavailability. */
  readonly reason?: string;
}

export interface SshHostOptions {
  readonly limits?: ResourceLimits;
  /** The ssh program. Undefined: not installed. */
  readonly ssh: string | undefined;
  /** Callback for the log of the worker, with the message of ssh, which may contain addresses. */
  readonly onFailure?: (failure: SshFailure) => void;
}

/**
 * Host on which commands run over ssh, as one account, with the rights of that account: not a sandbox. Each command has a
 * connection of its own. The host enforces the limits of processor time, file size and open files, and kills a command when its
 * connection ends.
 */
export class SshHost {
  private last: RemoteHostState = { ok: false, reason: 'it has not been tried yet' };
  readonly limits: ResourceLimits;

  constructor(
    readonly name: string,
    private readonly settings: RemoteHostSettings,
    private readonly files: SshFiles,
    private readonly options: SshHostOptions,
  ) {
    this.limits = options.limits ?? DEFAULT_LIMITS;
  }

  /** State at the last connection. */
  get state(): RemoteHostState {
    return this.last;
  }

  /** Connects once and starts nothing. Never rejects. */
  async probe(): Promise<RemoteHostState> {
    try {
      const session = await this.open(AbortSignal.timeout(PROBE_MS), () => undefined);
      if (session instanceof SshSession) await session.close();
    } catch {
      this.last = { ok: false, reason: 'it does not respond' };
    }
    return this.last;
  }

  /**
   * Runs a command in a folder below the host's. `limitMs` counts from its start. Processes in its process group are gone when
   * the promise settles, also after a lost connection.
   * @throws ToolError `unavailable` if the host cannot be reached: nothing has run. `outcome_unknown` if the connection was
   * lost while the command ran. `cancelled` and similar codes with the reason of `signal`, if it aborted the run.
   */
  async run(
    command: Omit<RemoteCommand, 'folder'> & { readonly place: string },
    limitMs: number,
    options: RemoteOptions,
  ): Promise<ProcessReport> {
    const session = await this.connect(options);
    const [startedAt, started] = [new Date(), performance.now()];
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(limitMs)]);
    const { place, ...what } = command;
    const run = { ...what, folder: `${this.settings.folder}/${place}` };
    const withLimit: RemoteOptions = {
      signal,
      onText: options.onText,
      get graceMs() {
        return options.graceMs;
      },
    };
    const { said, stdout, stderr, stopped } = await session.run(run, this.limits, withLimit);
    const durationMs = Math.round(performance.now() - started);
    const code = said === undefined ? undefined : exitCodeOf(said);
    if (code === undefined) throw this.lost(options.signal, stopped !== undefined, [stdout, stderr]);
    const report = { startedAt, durationMs, stdout, stderr, leftAlive: [] };
    if (stopped === undefined) return { ...report, exit: { how: 'exited', code } };
    const { tookMs, killed } = stopped;
    return { ...report, exit: killed ? { how: 'killed', tookMs } : { how: 'stopped', tookMs, code } };
  }

  private async connect({ signal, onText }: RemoteOptions): Promise<SshSession> {
    const until = performance.now() + CONNECT_MS;
    for (let attempt = 0; ; attempt += 1) {
      const opened = await this.open(signal, onText);
      if (opened instanceof SshSession) return opened;
      const pauseMs = PAUSES_MS[attempt];
      if (!opened.transient || pauseMs === undefined || performance.now() + pauseMs > until)
        throw new ToolError('unavailable', `The host ${this.name} cannot be used: ${opened.reason}. Nothing was run.`, {
          retryable: opened.transient,
        });
      await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  private async open(signal: AbortSignal, onText: RemoteOptions['onText']): Promise<SshSession | SshFailure> {
    const opened = await this.start(signal, onText);
    this.last = opened instanceof SshSession ? { ok: true } : { ok: false, reason: opened.reason };
    if (!(opened instanceof SshSession)) this.options.onFailure?.(opened);
    return opened;
  }

  private async start(signal: AbortSignal, onText: RemoteOptions['onText']): Promise<SshSession | SshFailure> {
    const { ssh } = this.options;
    if (ssh === undefined) return { reason: 'the worker has no ssh (Debian: apt-get install openssh-client)', transient: false };
    const log = join(this.files.logs, `${randomUUID()}.log`);
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
    try {
      const args = sshArguments(this.name, this.settings, this.files, log);
      return await SshSession.open({ file: ssh, args, cwd: '/', env }, log, signal, onText);
    } catch (error) {
      if (error instanceof ProcessStartError) return { reason: error.message, transient: true };
      throw error;
    }
  }

  private lost(signal: AbortSignal, wasStopped: boolean, streams: readonly CapturedOutput[]): ToolError {
    const reason: unknown = signal.reason;
    if (wasStopped && signal.aborted && reason instanceof ToolError)
      return new ToolError(reason.code, reason.message, { ...reason.options, mayHaveFinished: true });
    this.last = { ok: false, reason: 'the connection was lost' };
    const shown = streams.map(({ text }) => text.trim()).filter((text) => text !== '');
    const output = shown.length === 0 ? '' : `\n\nOutput until then:\n${shown.join('\n')}`;
    return new ToolError(
      'outcome_unknown',
      `The connection to the host ${this.name} was lost while the command ran. The host ends the command; its effects may or may not have happened, so it is not run again. Check before you repeat it.${output}`,
      { retryable: false },
    );
  }
}

/** Undefined: the last line does not say a code. @throws ToolError for a command that was not started */
function exitCodeOf(said: string): number | undefined {
  switch (said) {
    case 'no_folder':
      throw new ToolError(
        'unavailable',
        'The host cannot make the folder of the session: the account may not write there, or the disk is full.',
        {
          retryable: false,
        },
      );
    case 'no_place':
      throw new ToolError('invalid_arguments', 'Working directory is not a directory on the host');
    case 'outside':
      throw new ToolError('policy_denied', 'Path not allowed: the working directory is outside of the workspace on the host', {
        retryable: false,
      });
    default:
      return /^\d{1,3}$/.test(said) ? Number(said) : undefined;
  }
}
