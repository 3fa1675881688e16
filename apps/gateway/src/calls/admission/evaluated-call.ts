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
import type { SpokenCall } from '#dialects';
import type { FileAccessDecision } from '#policy';

/** What admission has found out about a call. A call with a rejection is recorded and ends without running. */
export interface EvaluatedCall {
  /** The name the caller used. */
  readonly requestedTool: string;
  /** How a call of a dialect was said; tool and arguments are the canonical ones that it means. */
  readonly spoken?: SpokenCall | undefined;
  /** Absent for a tool that does not exist. */
  readonly tool?: ToolDescriptor;
  readonly args: JsonValue;
  /** Absent for a call of no user. */
  readonly userId?: string;
  /** Why the model makes the call, in its own words. */
  readonly purpose?: string;
  readonly decision: Decision;
  /** Present when the call may open files outside its workspace, or may not open all files in it. */
  readonly files?: FileAccessDecision;
  /** Which hosts the call may reach. Present when its tool takes a URL. */
  readonly egress?: EgressRules | undefined;
  /** The policy profile that words the texts for the model, and the most bytes of text that the model gets; absent for the defaults. */
  readonly profile?: PolicyProfile;
  readonly resultBytes?: number;
  readonly resultTailBytes?: number;
  /** Present when hooks match the call. */
  readonly hooks?: CallHooks;
  /** The session whose limits count the call, where another one began its own. */
  readonly limitedSession?: string | undefined;
  /** How often the session has been deleted; absent for never. */
  readonly sessionEpoch?: number;
  /** Digest of the stored hooks that the worker runs. */
  readonly hookSet?: string;
  /** Events of the hooks that ran before the call. */
  readonly hookRuns?: readonly HookRunData[];
  /** Feedback of the hooks before the call, for the model. */
  readonly hookFeedback?: string;
  /** `text`: what the model reads; absent for the error's message. */
  readonly rejection?: { readonly outcome: CallOutcome; readonly error: CallError; readonly text?: string };
}

/** Which hooks run for a call, and what they and their rejections need to know. */
export interface CallHooks {
  readonly applied: readonly AppliedHook[];
  readonly profile: PolicyProfile;
  readonly order: HookOrder;
  /** The workspace as workers know it. */
  readonly cwd: string;
}

/** The decision about a call that was rejected before the policy was evaluated, or is not evaluated yet. */
export const NOT_EVALUATED: Decision = { effect: 'deny', reasons: [] };
