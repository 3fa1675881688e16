import type { AgentBudget, Content, JsonValue, ProgressData, TurnData } from '#contracts';
import type { AnswerForm } from './answer-form.js';
import type { EgressLimits } from './egress.port.js';
import type { Workspace } from './workspace.port.js';

/** Names the stream that an update continues, for tools with several streams of text. Watchers see which text is of `stderr`. */
export interface UpdateStreamInfo {
  readonly stream: string;
  /** More text of this stream was discarded after this update. */
  readonly truncated?: boolean;
}

/** Reason why a suspended tool runs again, and its stored state. */
export interface Resumed {
  /** `timer`: the time elapsed. `woken`: a call that it made has ended, or another wake-up. `input`: the input arrived. */
  readonly reason: 'timer' | 'woken' | 'input';
  /** State from the suspension. */
  readonly state?: JsonValue;
  /** Fits the schema of the suspension. Present where the reason is `input`, unless the question was declined. */
  readonly input?: JsonValue;
  /** The question was declined. Only where the suspension was `declinable`. */
  readonly declined?: true;
}

/**
 * Facts about the call of a running tool besides the arguments, and methods to report. Fields may be added at any time.
 *
 * @example
 * async run({ url }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
 *   ctx.onProgress({ message: 'connecting' });
 *   const response = await fetch(url, { signal: ctx.signal });
 *   return response.text();
 * }
 */
export interface ToolContext {
  readonly callId: string;
  /** The name that the caller used: the tool's own name or an alias. */
  readonly toolName: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** Rises with every attempt. Pass it to services that can refuse writes of older attempts. */
  readonly fence: number;
  readonly tenantId: string;
  readonly agentId?: string;
  /** User of the call, by its key or session: never taken from arguments. */
  readonly userId?: string;
  readonly sessionId?: string;
  /**
   * Number of earlier sessions of this name that were deleted. Data that a tool keeps for a session is valid for one epoch
   * only. Absent = 0.
   */
  readonly sessionEpoch?: number;
  /** The call is a background run, which this call started. Only gateways say so. */
  readonly startedBy?: string;
  /** The MCP client that made the call offers its model to the tool. */
  readonly sampling?: true;
  /** Texts and sizes that the answer has instead of the tool's own. */
  readonly answers?: AnswerForm;
  /** W3C traceparent of the tool's span. Absent when nothing is traced. */
  readonly traceparent?: string;
  /**
   * Aborted by cancel, timeout, lost lease or shutdown. `signal.reason` is a ToolError with the cause. Check it before every
   * effect.
   */
  readonly signal: AbortSignal;
  /** End of the attempt's run time, in milliseconds since the epoch by the clock of this machine. */
  readonly deadline: number;
  /** Milliseconds between abort and kill. May change until the abort. */
  readonly graceMs: number;
  /** The last suspension of the call; undefined when it was never suspended. An attempt after a failed one gets the same. */
  readonly resumed?: Resumed | undefined;
  /** Milliseconds since the first attempt of the call started. A suspended call measures its waiting time by it. */
  readonly sinceFirstStartMs: number;
  readonly workspace: Workspace;
  /** Absent for a tool that takes no URL. */
  readonly egress?: EgressLimits | undefined;
  /** The environment variables that child processes may see, from the worker's allowlist. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: { debug(message: string, facts?: object): void; warn(message: string, facts?: object): void };
  /** Sends partial content to watchers. Updates are coalesced and are not part of the result. */
  onUpdate(content: readonly Content[], of?: UpdateStreamInfo): void;
  /**
   * The text with secrets replaced by `[REDACTED]`. Call it before cutting a text: half of a secret is not recognised any more.
   * `truncated`: the text is the beginning of a longer one, so a possible half secret at its end is removed too.
   */
  redact(text: string, truncated?: boolean): string;
  /** Marks values as secret in all later output of the call: updates, progress, result, failure. */
  conceal(secrets: readonly string[]): void;
  onProgress(progress: ProgressData): void;
  /**
   * CPU time in milliseconds of a program that the tool ran; undefined where it is not known, and then that of the call is not known.
   * End has the sum.
   */
  onCpuTime?(ms: number | undefined): void;
  /** Present for sub-agents only. */
  readonly agentRun?: AgentRun | undefined;
}

/** Facts about the call of a sub-agent, and the record of its turns. */
export interface AgentRun {
  readonly parentCallId?: string;
  /** Number of sub-agents among the calls above. */
  readonly above: number;
  /** Remaining budget of the sub-agent above. */
  readonly budget?: AgentBudget;
  /**
   * Resolves when the log has the turn. Rejects when another worker owns the call. `journalBytes`: stored of the turn
   * beside the log.
   */
  recordTurn(turn: TurnData, journalBytes?: number): Promise<void>;
}
