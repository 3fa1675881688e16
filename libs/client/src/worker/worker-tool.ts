import { z } from 'zod';
import { WorkerTool, type Content, type JsonSchema, type JsonValue, type ProgressData, type WorkerCall } from '#contracts';

/** What a running tool knows about its call besides the arguments. */
export interface WorkerToolContext {
  readonly callId: string;
  /** Counts from 1. A call that was suspended comes again with the next attempt. */
  readonly attempt: number;
  /** Rises with every attempt. Pass it to services that can refuse writes of older attempts. */
  readonly fence: number;
  /** The last suspension of the call: why it goes on, its state, the value that was asked for. Absent without one. */
  readonly resumed?: WorkerCall['resumed'];
  readonly sessionId?: string;
  /** Folder with the files of the session, where the operator has said how this worker sees it. It may not exist yet. */
  readonly workspace?: string;
  /** Secrets that the operator gives to this tool, by name. Not to be kept. */
  readonly secrets: Readonly<Record<string, string>>;
  /** W3C Trace Context of the attempt. */
  readonly traceparent?: string;
  /** Aborted by cancel, deadline, lost lease or shutdown; `signal.reason` says which. Check it before every effect. */
  readonly signal: AbortSignal;
  /** End of the attempt's run time, in milliseconds since the epoch by the clock of this machine. */
  readonly deadline: number;
  /** Partial output for watchers. It is no part of the result. */
  readonly onUpdate: (content: string | readonly Content[]) => void;
  readonly onProgress: (progress: ProgressData) => void;
}

/** At least one of `resumeInMs` and `until`. */
export interface SuspendOptions {
  /** The tool runs again after so many milliseconds in any case. */
  readonly resumeInMs?: number;
  /** `input`: a person or a program gives a value. `children`: a call that this one made (`parentCallId`) ends. */
  readonly until?: 'input' | 'children';
  /** What is asked for, for people. Only with `until: 'input'`. */
  readonly prompt?: string;
  /** JSON Schema of the value, at most 4,096 bytes. Only with `until: 'input'`. */
  readonly inputSchema?: JsonSchema;
  /** What the next attempt gets as `context.resumed.state`, at most 1 MB as JSON. */
  readonly state?: JsonValue;
}

/** Made by `suspend`. */
export class Suspended {
  constructor(readonly options: SuspendOptions) {}
}

/**
 * Ends the attempt without ending the call, which waits without a slot. Then the tool runs again with the same arguments, in
 * any worker of the source, and `context.resumed` says why.
 *
 * @example
 * if (resumed?.reason !== 'input') return suspend({ until: 'input', prompt: 'Which branch?', inputSchema: { type: 'string' } });
 * return `on ${String(resumed.input)}`;
 */
export function suspend(options: SuspendOptions): Suspended {
  return new Suspended(options);
}

/** What a tool returns. A string is one text item. */
export type WorkerToolOutput =
  | string
  | readonly Content[]
  | { readonly content: readonly Content[]; readonly isError?: boolean; readonly structuredContent?: unknown }
  | Suspended;

/** A failure that the model should read. */
export class WorkerToolError extends Error {
  override readonly name = 'WorkerToolError';

  constructor(
    message: string,
    /** `retryable`: the same call may succeed later; it runs again only if the effect of the tool allows it. */
    readonly options: { readonly code?: string; readonly retryable?: boolean } = {},
  ) {
    super(message);
  }
}

type Facts = Pick<
  WorkerTool,
  'name' | 'label' | 'description' | 'pool' | 'tier' | 'effect' | 'timeoutMs' | 'retry' | 'subjects' | 'examples'
>;

/** The facts of a tool, as in the tools of Toolyard itself. `tier`, `effect` and the like count only where the operator trusts the worker. */
export interface WorkerToolOptions<I extends z.ZodObject = z.ZodObject> extends Facts {
  /** `z.strictObject` rejects unknown keys. Becomes JSON Schema: no refine, transform or coerce. */
  readonly input: I;
  /** Schema of `structuredContent`, which `run` must return when this is given. */
  readonly output?: z.ZodType;
  /** Runs the tool. @throws WorkerToolError for a failure that the model should read */
  readonly run: (args: z.output<I>, context: WorkerToolContext) => WorkerToolOutput | Promise<WorkerToolOutput>;
}

/** A tool that a `ToolyardWorker` can run. */
export interface RunnableTool {
  readonly announced: WorkerTool;
  run(args: WorkerCall['arguments'], context: WorkerToolContext): Promise<WorkerToolOutput>;
}

/**
 * A tool for a `ToolyardWorker`.
 *
 * @example
 * workerTool({
 *   name: 'word_count',
 *   description: 'Counts the words of a text.',
 *   input: z.strictObject({ text: z.string() }),
 *   run: ({ text }) => String(text.trim().split(/\s+/).length),
 * });
 * @throws Error when the facts are no tool, or the schema has no form in JSON Schema
 */
export function workerTool<I extends z.ZodObject>({ input, output, run, ...facts }: WorkerToolOptions<I>): RunnableTool {
  const announced = WorkerTool.parse({
    ...facts,
    input: z.toJSONSchema(input, { io: 'input' }),
    ...(output === undefined ? {} : { output: z.toJSONSchema(output) }),
  });
  return {
    announced,
    run: async (args, context) => run(parse(input, args), context),
  };
}

/** The gateway has checked the arguments against the same schema. What remains are defaults. */
function parse<I extends z.ZodObject>(input: I, args: unknown): z.output<I> {
  const parsed = input.safeParse(args);
  if (parsed.success) return parsed.data;
  throw new WorkerToolError(`The arguments do not fit the schema: ${z.prettifyError(parsed.error)}`, { code: 'invalid_arguments' });
}
