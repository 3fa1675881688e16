import type { ToolContext } from '#tool-sdk';

/** A call that runs in the background of a session. */
export interface BackgroundRun {
  readonly taskId: string;
  readonly tool: string;
  readonly status: 'waiting_approval' | 'queued' | 'running' | 'waiting_input' | 'ended';
  /** Outcome of the run; absent while it runs. `unknown`: its worker was lost. */
  readonly outcome?: string;
  readonly exitCode?: number;
  /** Error of a run that did not complete. */
  readonly error?: string;
  readonly startedAt: string;
  readonly endedAt?: string;
  /** Command for people, without secrets. */
  readonly command: string;
}

/** Output of a run after a position, and where it ends. */
export interface BackgroundOutput {
  readonly run: BackgroundRun;
  readonly text: string;
  readonly position: number;
  /** True if there is more output after `position`. */
  readonly hasMore: boolean;
  /** Output before `position` was left out, since a run shows only so much. */
  readonly truncated: boolean;
}

/** A part of the whole output of a call that has ended. */
export interface OutputPart {
  readonly text: string;
  /** Bytes of the output before and behind the text. */
  readonly from: number;
  readonly to: number;
  readonly totalBytes: number;
}

type Asking = Pick<ToolContext, 'callId' | 'tenantId' | 'sessionId' | 'sessionEpoch'>;

/**
 * Background runs of the session of a call. Runs of other sessions and tenants do not exist for it. Each run is a call of
 * its own, which gateways start and stop: queued, evaluated, limited and logged like any other. The class is the injection token.
 */
export abstract class BackgroundRuns {
  /** Newest first. */
  abstract list(ctx: Asking): Promise<readonly BackgroundRun[]>;

  /** Undefined for a run that the session does not have. `position` 0 is the beginning. */
  abstract output(ctx: Asking, taskId: string, position: number, maxBytes: number): Promise<BackgroundOutput | undefined>;

  /** Output of an ended command of the session, in the background or not. Undefined for any other call. */
  abstract wholeOutput(ctx: Asking, callId: string, fromByte: number, maxBytes: number): Promise<OutputPart | undefined>;
}
