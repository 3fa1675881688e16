import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessCommand, ProcessReport } from '#sandbox';
import { type ToolContext, ToolError, type WorkspaceQuota } from '#tool-sdk';
import { lastOutput } from './shell-text.js';

/** Interval of measuring the output of a running command. */
const MEASURE_MS = 2_000;
/** Longer if measuring is slow, but not longer than the room lasts at the rate of the last interval. */
const MEASURE_SHARE = 20;
const SIGNAL_BASE = 128;

/** Enforces the quota of the workspace for a command. */
export interface CommandQuota {
  /** Aborted with a ToolError when the command has written more than the workspace may take. */
  readonly signal: AbortSignal;
  /** Limits the file size of a command to the remaining quota. Without a rest, the command may only remove files. */
  limit(command: ProcessCommand): ProcessCommand;
  /** Quota error of a command; undefined for any other end. */
  failureOf(report: ProcessReport, ctx: Pick<ToolContext, 'redact'>): ToolError | undefined;
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
  const left = await quota.remaining();
  const most = left.files > 0 ? Math.max(0, left.bytes) : 0;
  const exceeded = new AbortController();
  const closed = new AbortController();
  void watch(quota, left, exceeded, closed.signal);
  let isLimit = false;
  return {
    signal: exceeded.signal,
    limit: (command) => {
      const { limits } = command;
      if (limits === undefined || limits.fileBytes <= most) return command;
      isLimit = true;
      return { ...command, limits: { ...limits, fileBytes: most } };
    },
    failureOf: (report, { redact }) => {
      const { exit, stdout, stderr } = report;
      const reason: unknown = exceeded.signal.reason;
      const killed = exit.how === 'killed' || exit.how === 'stopped';
      if (killed && reason instanceof ToolError)
        return new ToolError(reason.code, reason.message + lastOutput(redact, stdout, stderr), { ...reason.options, killed: true });
      if (!isLimit || !exceededFileSize(report)) return undefined;
      const message = `Quota exceeded: the workspace has ${most.toLocaleString('en-US')} bytes left. Remove files that are not needed, then try again.`;
      return new ToolError('quota_exceeded', message + lastOutput(redact, stdout, stderr), { retryable: false });
    },
    close: () => {
      if (closed.signal.aborted) return;
      closed.abort();
      quota.invalidate();
    },
  };
}

/**
 * Measures until the quota is exceeded. `first`: what is left at the start. The command may remove files beyond the limit, but not
 * increase them.
 */
async function watch(quota: WorkspaceQuota, first: Room, exceeded: AbortController, closed: AbortSignal): Promise<void> {
  const overdrawn = Math.max(0, -first.files);
  let [before, at] = [first, performance.now()];
  for (let waitMs = MEASURE_MS; ;) {
    await sleep(waitMs, undefined, { signal: closed, ref: false }).catch(() => undefined);
    if (closed.aborted) return;
    const { failure, tookMs, left } = await quota.measure(overdrawn);
    if (failure !== undefined && !closed.aborted) return exceeded.abort(failure);
    const now = performance.now();
    waitMs = nextMeasureMs({ tookMs, sinceMs: now - at, before, left });
    [before, at] = [left, now];
  }
}

interface Room {
  readonly bytes: number;
  readonly files: number;
}

/**
 * Pause before the next measurement. `sinceMs`: time between the last two, which found `before` and `left`. At least as long as a
 * measurement takes. Pure.
 */
export function nextMeasureMs(last: {
  readonly tookMs: number;
  readonly sinceMs: number;
  readonly before: Room;
  readonly left: Room;
}): number {
  const { tookMs, sinceMs, before, left } = last;
  const lastsMs = (['bytes', 'files'] as const).map((limit) => {
    const grown = before[limit] - left[limit];
    return grown > 0 && left[limit] > 0 ? (left[limit] / grown) * sinceMs : Infinity;
  });
  return Math.max(MEASURE_MS, tookMs, Math.min(tookMs * MEASURE_SHARE, ...lastsMs));
}

/** The kernel's signal, or what a program says that ignores it. */
function exceededFileSize({ exit, stderr }: ProcessReport): boolean {
  if (exit.how === 'signalled') return exit.signal === 'SIGXFSZ';
  if (exit.how !== 'exited' || exit.code === 0) return false;
  return (
    exit.code === SIGNAL_BASE + constants.signals.SIGXFSZ || /file too large|file size limit exceeded/i.test(stderr.text + stderr.tail)
  );
}
