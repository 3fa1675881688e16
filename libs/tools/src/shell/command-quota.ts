import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessCommand, ProcessReport } from '#sandbox';
import { type ToolContext, ToolFailure, type WorkspaceQuota } from '#tool-sdk';
import { lastOutput } from './shell-text.js';

/** How often what a running command wrote is looked at; less often where looking takes long. */
const LOOK_MS = 2_000;
const LOOKING_SHARE = 20;
const SIGNAL_BASE = 128;

/** What holds a command to the quota of its workspace. */
export interface CommandQuota {
  /** Aborted with a ToolFailure when the command has written more than the workspace may take. */
  readonly signal: AbortSignal;
  /** The command with no file larger than what is left. With nothing left it may remove files, and write none. */
  limit(command: ProcessCommand): ProcessCommand;
  /** What the command ran into, in the words of the quota; undefined for every other end. */
  failureOf(report: ProcessReport, ctx: Pick<ToolContext, 'shown'>): ToolFailure | undefined;
  /** Ends looking, and has the workspace measured before the next write. Idempotent. */
  close(): void;
}

const UNLIMITED: CommandQuota = {
  signal: new AbortController().signal,
  limit: (command) => command,
  failureOf: () => undefined,
  close: () => undefined,
};

export async function openCommandQuota(quota: WorkspaceQuota | undefined): Promise<CommandQuota> {
  if (quota === undefined) return UNLIMITED;
  const left = await quota.left();
  const most = left.files > 0 ? Math.max(0, left.bytes) : 0;
  const exceeded = new AbortController();
  const closed = new AbortController();
  void watch(quota, Math.max(0, -left.files), exceeded, closed.signal);
  let isLimit = false;
  return {
    signal: exceeded.signal,
    limit: (command) => {
      const { limits } = command;
      if (limits === undefined || limits.fileBytes <= most) return command;
      isLimit = true;
      return { ...command, limits: { ...limits, fileBytes: most } };
    },
    failureOf: (report, { shown }) => {
      const { ending, stdout, stderr } = report;
      const reason: unknown = exceeded.signal.reason;
      const killed = ending.how === 'killed' || ending.how === 'stopped';
      if (killed && reason instanceof ToolFailure)
        return new ToolFailure(reason.code, reason.message + lastOutput(shown, stdout, stderr), { ...reason.options, killed: true });
      if (!isLimit || !wroteTooMuch(report)) return undefined;
      const message = `Quota exceeded: the workspace has ${most.toLocaleString('en-US')} bytes left. Remove files that are not needed, then try again.`;
      return new ToolFailure('quota_exceeded', message + lastOutput(shown, stdout, stderr), { retryable: false });
    },
    close: () => {
      if (closed.signal.aborted) return;
      closed.abort();
      quota.changed();
    },
  };
}

/** `overdrawn`: the files there were beyond the limit when the command started; it may remove them, and add none. */
async function watch(quota: WorkspaceQuota, overdrawn: number, exceeded: AbortController, closed: AbortSignal): Promise<void> {
  for (let waitMs = LOOK_MS; ;) {
    await sleep(waitMs, undefined, { signal: closed, ref: false }).catch(() => undefined);
    if (closed.aborted) return;
    const { failure, tookMs } = await quota.look(overdrawn);
    if (failure !== undefined && !closed.aborted) return exceeded.abort(failure);
    waitMs = Math.max(LOOK_MS, tookMs * LOOKING_SHARE);
  }
}

/** The kernel's signal, or what a program says that ignores it. */
function wroteTooMuch({ ending, stderr }: ProcessReport): boolean {
  if (ending.how === 'signalled') return ending.signal === 'SIGXFSZ';
  if (ending.how !== 'exited' || ending.code === 0) return false;
  return ending.code === SIGNAL_BASE + constants.signals.SIGXFSZ || /file too large|file size limit exceeded/i.test(stderr.text);
}
