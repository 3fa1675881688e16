import type { z } from 'zod';
import type { Content, DialectHints, Dialect as DialectName, ExecutionPolicy, JsonValue, PolicyProfile, Violation } from '#contracts';
import type { AnswerForm } from '#tool-sdk';

export type Arguments = Readonly<Record<string, unknown>>;

/** Caller of the tool. */
export interface Caller {
  readonly inSession: boolean;
}

/** Canonical form of a dialect call. */
export interface CanonicalCall {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** Hints for the text of the result only. Stored with the call, so never text of the model. */
  readonly hints?: DialectHints;
}

/** Result of a canonical tool. */
export interface CanonicalResult {
  /** Canonical. */
  readonly args: Arguments;
  readonly hints: DialectHints;
  readonly content: readonly Content[];
  /** All text of `content`. */
  readonly text: string;
  readonly isError: boolean;
  /** Details and data of the tool, for programs. */
  readonly facts: Arguments;
  /** Milliseconds that the tool ran. */
  readonly tookMs: number;
  readonly toolCallId: string | undefined;
  /** The beginning of a text, of at most so many bytes of UTF-8, without half of a secret at its end. */
  readonly cut: (text: string, bytes: number, suffix: string) => string;
}

/** A text is the whole result and no error. */
export type Rendered = string | RenderedObject;

export interface RenderedObject {
  readonly content: readonly Content[] | string;
  readonly isError?: boolean;
  readonly structuredContent?: JsonValue;
  /** Details in place of those of the canonical tool. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Reason why a call has no result. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly errors?: readonly Violation[] | undefined;
  /** Stage that rejected the call: the schema, the meaning of the arguments, the policy, or the run. */
  readonly kind: 'schema' | 'semantic' | 'policy' | 'run';
  /** Canonical, where they were read. */
  readonly args?: Arguments | undefined;
  /** True if the tool had started. */
  readonly started: boolean;
  /** Suggestions for an unknown name, among the tools of the caller. Absent: any of the dialect. */
  readonly near?: readonly string[] | undefined;
}

/** Tool of a dialect. */
export interface DialectTool {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** The canonical tool that the catalog takes its facts from. `adapt` may choose another one for some arguments. */
  readonly tool: string;
  /** The canonical tools that rules mean by its names. Absent: `tool`. */
  readonly means?: readonly string[];
  readonly description: string;
  readonly input: z.ZodType;
  readonly argumentAliases?: Readonly<Record<string, readonly string[]>>;
  /** The argument that a bare text stands for. */
  readonly rawArgument?: string;
  /** True if unknown arguments are rejected. Default: the setting of the dialect. */
  readonly strict?: boolean;
  /** Pure. @throws Error with the text for the model, for arguments that fit the schema and mean nothing */
  adapt(args: never, caller: Caller): CanonicalCall;
  /** Longest run in milliseconds, unless the policy changes the canonical tool's limit. Default: the canonical tool's limit. */
  readonly timeoutMs?: number;
  /** Understood, but not in the catalog: names of earlier versions. */
  readonly hidden?: boolean;
  /** Absent: the result as it is. */
  result?(result: CanonicalResult): Rendered;
  /** Absent: as the dialect words it. */
  refusal?(refusal: Refusal): string;
}

/** A known agent's tools. All that is particular to it is in one file. */
export interface Dialect {
  readonly name: Exclude<DialectName, 'core'>;
  /** Default for settings absent from both the agent's policy and the call. */
  readonly execution: ExecutionPolicy;
  readonly tools: readonly DialectTool[];
  /** The policy profile of the agent. */
  readonly profile: Exclude<PolicyProfile, 'core'>;
  /** Texts and sizes of answers to calls under that profile, whatever names they use. */
  readonly answers?: AnswerForm;
  /** Text of a call under that profile that a hook refused. Absent: the message of the error. */
  readonly hookDenial?: (tool: string, reason: string | undefined) => string;
  /** Names of other releases of the agent, with the canonical tool. Rules may use them, calls may not. */
  readonly namesInRules?: Readonly<Record<string, string>>;
  /** Text of a call of a name that it does not have. */
  unknown(name: string): string;
  /** Text of a call that did not come to a result. */
  refusal(tool: string, refusal: Refusal): string;
  /** The last step of each result. */
  finish?(rendered: RenderedObject & { readonly content: readonly Content[] }): Rendered;
}

/** Types `adapt` by the schema. */
export function dialectTool<T extends z.ZodType>(
  tool: Omit<DialectTool, 'input' | 'adapt'> & { readonly input: T; adapt(args: z.output<T>, caller: Caller): CanonicalCall },
): DialectTool {
  return tool;
}

/** Leaves out members without a value. */
export function definedFields(args: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}
