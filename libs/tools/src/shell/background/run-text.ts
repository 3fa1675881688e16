import { ToolError } from '#tool-sdk';
import type { BackgroundRun } from './background-runs.port.js';

export const NO_BACKGROUND = 'This process has no background runs.';

/** The state of a run in one line, such as `exited with code 0` or `running`. */
export function stateOf({ status, outcome, exitCode, error }: BackgroundRun): string {
  if (status === 'waiting_approval') return 'waiting for a person to allow it';
  if (status !== 'ended') return status === 'queued' ? 'waiting for a worker' : 'running';
  if (exitCode !== undefined) return `exited with code ${exitCode}`;
  if (outcome === 'unknown') return 'lost: its worker is gone, and the command with it';
  return `${(outcome ?? 'ended').replaceAll('_', ' ')}${error === undefined ? '' : `: ${error}`}`;
}

export function noSuchRun(taskId: string): ToolError {
  return new ToolError('tool_failed', `This session has no background run ${taskId.slice(0, 100)}. Use shell_list to see those it has.`, {
    retryable: false,
  });
}

export function requireSession(sessionId: string | undefined): void {
  if (sessionId === undefined)
    throw new ToolError('invalid_arguments', 'Background runs need a session: submit the call with a sessionId', { retryable: false });
}

/** The facts of a run for programs. */
export function runDetails({ taskId, status, outcome, exitCode }: BackgroundRun): Record<string, string | number> {
  return { taskId, status, ...(outcome === undefined ? {} : { outcome }), ...(exitCode === undefined ? {} : { exitCode }) };
}
