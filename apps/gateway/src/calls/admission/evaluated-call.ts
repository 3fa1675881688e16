import type {
  AppliedHook,
  CallError,
  CallOutcome,
  Decision,
  EgressRules,
  HookOrder,
  HookRunData,
  JsonValue,
  PolicyProfile,
  ToolDescriptor,
} from '#contracts';
import type { DialectForm } from '#dialects';
import type { FileAccessDecision } from '#policy';

/** Facts that admission has collected about a call. A call with a rejection is recorded and ends without running. */
export interface EvaluatedCall {
  /** Tool name in the submission. */
  readonly requestedTool: string;
  /** Dialect form of the call; `tool` and `args` are canonical. */
  readonly dialectForm?: DialectForm | undefined;
  /** Absent if the tool does not exist. */
  readonly tool?: ToolDescriptor;
  readonly args: JsonValue;
  /** Absent for a call without a user. */
  readonly userId?: string;
  /** Purpose of the call in the model's words. */
  readonly purpose?: string;
  readonly decision: Decision;
  /** Present if the call may open files outside its workspace, or if files in it are denied. */
  readonly files?: FileAccessDecision;
  /** Hosts that the call may reach. Present if its tool takes a URL. */
  readonly egress?: EgressRules | undefined;
  /** Profile for the wording of texts for the model, and the most bytes of text that the model gets; absent for the defaults. */
  readonly profile?: PolicyProfile;
  readonly resultBytes?: number;
  readonly resultTailBytes?: number;
  /** Present when hooks match the call. */
  readonly hooks?: CallHooks;
  /** Session whose limits count the call, if another one began the call's own. */
  readonly limitedSession?: string | undefined;
  /** Number of times that the session was deleted; absent for 0. */
  readonly sessionEpoch?: number;
  /** Digest of the stored hooks that the worker runs. */
  readonly hookSet?: string;
  /** Events of the hooks that ran before the call. */
  readonly hookRuns?: readonly HookRunData[];
  /** Feedback of the hooks before the call, for the model. */
  readonly hookFeedback?: string;
  /** `text`: rejection text for the model. Default: the error's message. */
  readonly rejection?: { readonly outcome: CallOutcome; readonly error: CallError; readonly text?: string };
}

/** Hooks that match a call, and the settings that they and their rejections need. */
export interface CallHooks {
  readonly applied: readonly AppliedHook[];
  readonly profile: PolicyProfile;
  readonly order: HookOrder;
  /** Workspace path on workers. */
  readonly cwd: string;
}

/** Decision about a call that was rejected before the policy was evaluated, or is not evaluated yet. */
export const NOT_EVALUATED: Decision = { effect: 'deny', reasons: [] };
