import type { z } from 'zod';
import type { ToolCallers, ToolExample, Pool, RetryPolicy, ToolEffect, ToolFeature, ToolSubject, ToolTier, WorkerPart } from '#contracts';
import type { Suspension, ToolOutput, ToolOutputObject } from './tool-output.js';
import type { ToolContext } from './tool-context.port.js';

/** `z.strictObject` rejects unknown keys, `z.looseObject` passes them on. The start refuses `z.object`, which drops them silently. */
export type InputSchema = z.ZodObject;

/** The facts of a tool. Defaults are the careful ones: a tool without `tier` is privileged, and its effects never run twice. */
export interface ToolOptions<I extends InputSchema = InputSchema, O extends z.ZodType = z.ZodType> {
  /** Wire name: a letter, then at most 63 letters, digits, `_` or `-`. */
  readonly name: string;
  /** Shown to people, never sent to a model. Default: the name. */
  readonly label?: string;
  /** Description for the model: purpose, limits and errors. */
  readonly description: string;
  /** Converted to JSON Schema 2020-12. The start refuses what JSON Schema cannot express (refine, transform, trim, coerce, …). */
  readonly input: I;
  /** Schema of `structuredContent`, which `run` must return when this is given. */
  readonly output?: O;
  /** Default: `privileged`. */
  readonly tier?: ToolTier;
  /** Effect of a second run. Default: `pure` for tier `read_only`, otherwise `once`. */
  readonly effect?: ToolEffect;
  /** Default by tier: `read_only` → `read`, `side_effecting` → `write`, `privileged` → `shell`. */
  readonly pool?: Pool;
  /** Arguments that policy evaluates: paths, commands, URLs, operations, agents. Default: none. */
  readonly subjects?: readonly (ToolSubject & { readonly argument: keyof z.input<I> & string })[];
  /** Required parts of a worker besides its pool, such as `memory`. Default: none. */
  readonly requires?: readonly WorkerPart[];
  /** The tool is there only where a policy names this among its `features`. Default: always. */
  readonly feature?: ToolFeature;
  /** Run time of one attempt in milliseconds; a caller may ask for less. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Default: 3 attempts with a delay of 500 ms, doubled up to 30 s; 1 attempt for the effect `once`. */
  readonly retry?: Partial<RetryPolicy>;
  /** Agents that have the tool: `main` excludes sub-agents, `sub_agents` allows only them. Default: all. */
  readonly callers?: ToolCallers;
  /** Other wire names of the same tool. */
  readonly aliases?: readonly string[];
  /** Valid arguments; the tool contract suite runs them. `setup`: calls that create what an example needs in an empty workspace. */
  readonly examples?: readonly { readonly title: string; readonly arguments: z.input<I>; readonly setup?: ToolExample['setup'] }[];
  /** Argument → its aliases. The argument itself takes precedence, then the first alias that is not empty. */
  readonly argumentAliases?: Partial<Readonly<Record<keyof z.input<I> & string, readonly string[]>>>;
  /** The argument that a bare text stands for. */
  readonly rawArgument?: keyof z.input<I> & string;
}

/** Result of `run` of a tool with an output schema. */
export type StructuredOutput<T> = (ToolOutputObject & { readonly structuredContent: T }) | Suspension;

type Returned<O extends z.ZodType> = unknown extends z.output<O> ? ToolOutput : StructuredOutput<z.output<O>>;

/** The methods of a tool class. `args` are parsed and valid, with defaults filled in. */
export interface ToolHandler<A, R = ToolOutput> {
  // A property, not a method: method parameters are compared both ways, and a `run` with the wrong arguments would compile.
  /** Runs the tool in a worker. @throws ToolError for a failure that the model should read */
  readonly run: (args: A, ctx: ToolContext) => R | Promise<R>;
  /**
   * Checks conditions that the schema cannot express. Runs in the gateway before hooks and approvals, without a workspace; must
   * be fast and free of effects. @throws ToolError
   */
  readonly check?: (args: A) => void;
  /**
   * Arguments with derived values for policy, hooks and people, such as the paths within a text. Called after `check`, in the
   * gateway; pure and fast. The result fits the schema, and completing it again changes nothing.
   */
  readonly complete?: (args: A) => A;
  /**
   * Runs right before `run`, within the run time of the call; false rejects the call as not confirmed. Occupies a slot of the
   * worker: questions to people belong to policy instead.
   */
  readonly confirm?: (args: A, ctx: ToolContext) => boolean | Promise<boolean>;
}

/** A handler as the registry holds it: arguments are checked before they reach it. */
export type AnyToolHandler = Omit<ToolHandler<never>, 'complete'> & { readonly complete?: (args: never) => Record<string, unknown> };

const optionsOfClass = new WeakMap<object, ToolOptions>();

/** Options of a class with `@Tool`; undefined for any other value. */
export function toolOptionsOf(target: unknown): ToolOptions | undefined {
  return typeof target === 'function' ? optionsOfClass.get(target) : undefined;
}

/**
 * Declares a class as a tool. The class is a Nest provider, so its constructor is injected; the registry finds it. A `run` that does
 * not fit `input` or `output` is a compile error.
 *
 * @example
 * const input = z.strictObject({ text: z.string() });
 *
 * @Tool({ name: 'word_count', description: 'Counts the words of a text.', input, tier: 'read_only' })
 * export class WordCountTool {
 *   run({ text }: z.output<typeof input>): ToolOutput {
 *     return String(text.trim().split(/\s+/).length);
 *   }
 * }
 */
export function Tool<const I extends InputSchema, O extends z.ZodType = z.ZodType>(
  options: ToolOptions<I, O>,
): (target: new (...args: never[]) => ToolHandler<z.output<I>, Returned<O>>) => void {
  return (target) => void optionsOfClass.set(target, options);
}
