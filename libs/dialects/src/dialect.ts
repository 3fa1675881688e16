import type { z } from 'zod';
import type { Content, DialectHints, Dialect as DialectName, ExecutionPolicy, JsonValue, PolicyProfile, Violation } from '#contracts';
import type { AnswerForm } from '#tool-sdk';

export type Arguments = Readonly<Record<string, unknown>>;

/** Who calls. */
export interface Caller {
  readonly inSession: boolean;
}

/** What a call of a dialect means in canonical terms. */
export interface CanonicalCall {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** What only words the result. Stored with the call, so never a text of the model's own. */
  readonly hints?: DialectHints;
}

/** What a canonical tool returned. */
export interface CanonicalResult {
  /** Canonical. */
  readonly args: Arguments;
  readonly hints: DialectHints;
  readonly content: readonly Content[];
  /** All text of `content`. */
  readonly text: string;
  readonly isError: boolean;
  /** Details and data of the tool: what it did, for programs. */
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
  /** Instead of those of the canonical tool. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Why a call did not come to a result. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly errors?: readonly Violation[] | undefined;
  /** What refused arguments: the schema, or what they mean; or who else refused the call. */
  readonly kind: 'schema' | 'semantic' | 'policy' | 'run';
  /** Canonical, where they were read. */
  readonly args?: Arguments | undefined;
  /** Whether the tool had started. */
  readonly started: boolean;
  /** For an unknown name: those that the caller may use and may have meant. Absent: any of the dialect. */
  readonly near?: readonly string[] | undefined;
}

/** One tool of a dialect. */
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
  /** Whether arguments that it does not have are refused. Absent: as the dialect says. */
  readonly strict?: boolean;
  /** Pure. @throws Error with the text for the model, for arguments that fit the schema and mean nothing */
  adapt(args: never, caller: Caller): CanonicalCall;
  /** Longest run in milliseconds, where the policy has left that of the canonical tool. Absent: that one. */
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
  /** What holds where the policy of the agent and the call say nothing else. */
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
export function given(args: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}
