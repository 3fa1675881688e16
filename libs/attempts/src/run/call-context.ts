import { answersOf } from '#dialects';
import type { Claimed } from '#event-log';
import type { AgentRun, AnswerForm, EgressLimits, Resumed, ToolContext, Workspace } from '#tool-sdk';
import type { OutputSanitizer } from './output-sanitizer.js';
import type { AttemptLog } from './attempt-log.js';
import type { Attempt } from './attempt.js';

/** Context of a tool's run. Its methods work without their object. */
export class CallContext implements ToolContext {
  readonly callId: string;
  readonly toolName: string;
  /** Canonical name. */
  private readonly tool: string;
  readonly attempt: number;
  readonly fence: number;
  readonly tenantId: string;
  readonly agentId?: string;
  readonly userId?: string;
  readonly sessionId?: string;
  readonly sessionEpoch?: number;
  readonly startedBy?: string;
  readonly sampling?: true;
  readonly answers?: AnswerForm;
  readonly traceparent?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly deadline: number;
  readonly sinceFirstStartMs: number;
  readonly workspace: Workspace;
  readonly egress: EgressLimits | undefined;
  private readonly submitted: Claimed['submitted'];

  constructor(
    private readonly run: Attempt,
    claimed: Claimed,
    opened: Pick<ToolContext, 'workspace' | 'egress'>,
    env: Readonly<Record<string, string>>,
    private readonly guard: Pick<OutputSanitizer, 'onUpdate' | 'onProgress' | 'redact' | 'conceal'>,
    private readonly logger: AttemptLog,
    /** Span of the attempt, while spans are exported. */
    traceparent?: string,
    readonly resumed?: Resumed,
    private readonly recordTurn?: AgentRun['recordTurn'],
  ) {
    const { meta, time, firstStartedAt, runMs } = claimed;
    this.workspace = opened.workspace;
    this.egress = opened.egress;
    this.submitted = claimed.submitted;
    this.callId = run.callId;
    this.toolName = claimed.submitted.requestedTool ?? meta.tool;
    this.tool = meta.tool;
    this.attempt = claimed.attempt;
    this.fence = claimed.fence;
    this.tenantId = meta.tenantId;
    if (meta.agentId !== undefined) this.agentId = meta.agentId;
    if (claimed.submitted.userId !== undefined) this.userId = claimed.submitted.userId;
    if (meta.sessionId !== undefined) this.sessionId = meta.sessionId;
    if (claimed.submitted.sessionEpoch !== undefined) this.sessionEpoch = claimed.submitted.sessionEpoch;
    if (claimed.submitted.startedBy !== undefined) this.startedBy = claimed.submitted.startedBy;
    if (claimed.submitted.sampling !== undefined) this.sampling = claimed.submitted.sampling;
    const answers = claimed.submitted.profile && answersOf(claimed.submitted.profile);
    if (answers !== undefined) this.answers = answers;
    this.env = traceparent === undefined ? env : { ...env, TRACEPARENT: traceparent };
    const parent = traceparent ?? meta.traceparent;
    if (parent !== undefined) this.traceparent = parent;
    this.deadline = Date.now() + runMs;
    this.sinceFirstStartMs = Math.max(0, time - firstStartedAt);
  }

  // Getters, since functions in fields of a call's object would keep it, and all its references, until a full collection.
  get onUpdate(): ToolContext['onUpdate'] {
    return (content, of) => this.guard.onUpdate(content, of);
  }

  get onProgress(): ToolContext['onProgress'] {
    return (progress) => this.guard.onProgress(progress);
  }

  get onCpuTime(): ToolContext['onCpuTime'] {
    return (ms = NaN) => void (this.run.cpuMs = (this.run.cpuMs ?? 0) + ms);
  }

  get redact(): ToolContext['redact'] {
    return (text, cut) => this.guard.redact(text, cut);
  }

  get conceal(): ToolContext['conceal'] {
    return (secrets) => this.guard.conceal(secrets);
  }

  get agentRun(): AgentRun | undefined {
    const { parentCallId, agentsAbove = 0, agentBudget } = this.submitted;
    const { recordTurn } = this;
    if (recordTurn === undefined) return undefined;
    return {
      above: agentsAbove,
      ...(parentCallId === undefined ? {} : { parentCallId }),
      ...(agentBudget === undefined ? {} : { budget: agentBudget }),
      recordTurn,
    };
  }

  get log(): ToolContext['log'] {
    const about = { callId: this.callId, tool: this.tool };
    return {
      debug: (message, facts) => this.logger.debug({ ...about, ...facts }, message),
      warn: (message, facts) => this.logger.warn({ ...about, ...facts }, message),
    };
  }

  get signal(): AbortSignal {
    return this.run.signal;
  }

  /** Grace at the time of the read: a cancel has a grace of its own. */
  get graceMs(): number {
    return this.run.graceMs;
  }
}
