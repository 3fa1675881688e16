import { DiscoveryService } from '@nestjs/core';
import type { z } from 'zod';
import type { ToolExample, Pool, RetryPolicy, ToolEffect, ToolSubject, ToolTier } from '#contracts';
import type { Suspension, ToolContext, ToolOutput, ToolOutputObject } from './tool.port.js';

/** Arguments are an object that says what it does with unknown keys: `z.strictObject` refuses them, `z.looseObject` hands them on; boot refuses `z.object`. */
export type InputSchema = z.ZodObject;

/** All that is said about a tool in its own file. Facts that are left out default from each other, always to the careful side. */
export interface ToolOptions<I extends InputSchema = InputSchema, O extends z.ZodType = z.ZodType> {
  /** Wire name: a letter, then at most 63 letters, digits, `_` or `-`. */
  readonly name: string;
  /** For people; never sent to a model. Default: the name. */
  readonly label?: string;
  /** What the model reads: what it does, its limits and its errors. */
  readonly description: string;
  /** Becomes JSON Schema 2020-12; what JSON Schema cannot say (refine, transform, trim, coerce …) is refused at boot. */
  readonly input: I;
  /** Form of `structuredContent`, which `run` must then return. */
  readonly output?: O;
  /** Default: privileged. */
  readonly tier?: ToolTier;
  /** Default: pure for read_only, once for the others. */
  readonly effect?: ToolEffect;
  /** Default by tier: read_only → read, side_effecting → write, privileged → shell. */
  readonly pool?: Pool;
  /** The arguments that policy judges: paths, command lines, URLs. Default: none. */
  readonly subjects?: readonly (ToolSubject & { readonly argument: keyof z.input<I> & string })[];
  /** How long one attempt may run, unless the caller asks for less. Default 30,000 ms. */
  readonly timeoutMs?: number;
  /** Default: 3 attempts, 500 ms doubling to 30 s; 1 attempt for effect `once`. */
  readonly retry?: Partial<RetryPolicy>;
  /** Other wire names of the same tool. */
  readonly aliases?: readonly string[];
  /** Must be valid arguments; the conformance suite runs them. `setup`: calls that make what an example needs in an empty workspace. */
  readonly examples?: readonly { readonly title: string; readonly arguments: z.input<I>; readonly setup?: ToolExample['setup'] }[];
  /** Other names a model may use for an argument. The argument itself wins, then the first alias that is not empty. */
  readonly argumentAliases?: Partial<Readonly<Record<keyof z.input<I> & string, readonly string[]>>>;
  /** The argument that is meant when the arguments are a bare text instead of an object. */
  readonly rawArgument?: keyof z.input<I> & string;
}

/** What `run` returns when the tool has an output schema. */
export type StructuredOutput<T> = (ToolOutputObject & { readonly structuredContent: T }) | Suspension;

type Returned<O extends z.ZodType> = unknown extends z.output<O> ? ToolOutput : StructuredOutput<z.output<O>>;

/** `args` are parsed, valid and complete (defaults filled). `run` returns content or throws a ToolError. */
export interface ToolHandler<A, R = ToolOutput> {
  // A property, not a method: method parameters are compared both ways, and a `run` with the wrong arguments would compile.
  readonly run: (args: A, ctx: ToolContext) => R | Promise<R>;
  /**
   * Says before anybody is asked about the call what its schema cannot: throws a ToolError. Called in the gateway, which
   * does not see the workspace: pure and quick.
   */
  readonly check?: (args: A) => void;
  /** Asked right before `run`, in the worker and within the time of the call; false refuses the call as not confirmed. A person is asked by policy, not here: this holds a slot. */
  readonly confirm?: (args: A, ctx: ToolContext) => boolean | Promise<boolean>;
}

/** A handler as the registry holds it: arguments are checked before they reach it. */
export type AnyToolHandler = ToolHandler<never>;

export const ToolMetadata = DiscoveryService.createDecorator<ToolOptions>();

/**
 * Makes a class a tool. The class is a Nest provider (its constructor is injected) and is found by the registry; a `run`
 * that does not fit `input` (or `output`) is a compile error.
 */
export function Tool<const I extends InputSchema, O extends z.ZodType = z.ZodType>(
  options: ToolOptions<I, O>,
): (target: new (...args: never[]) => ToolHandler<z.output<I>, Returned<O>>) => void {
  return ToolMetadata(options);
}
