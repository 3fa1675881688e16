import { z } from 'zod';
import { WorkerTool, type Content, type JsonSchema, type JsonValue, type ProgressData, type WorkerCall } from '#contracts';

/** Facts of a running tool's call besides the arguments. */
export interface WorkerToolContext {
  readonly callId: string;
  /** Number of the attempt, from 1. A suspended call comes again with the next attempt. */
  readonly attempt: number;
  /** Fencing token, rising with every attempt. For services that can reject writes of older attempts. */
  readonly fence: number;
  /** Last suspension of the call: the reason of the resumption, its state, the requested value. Absent without one. */
  readonly resumed?: WorkerCall['resumed'];
  readonly sessionId?: string;
  /** Folder with the files of the session, if the operator has configured this worker's path to it. It may not exist yet. */
  readonly workspace?: string;
  /** Secrets that the operator gives to this tool, by name. Must not be stored. */
  readonly secrets: Readonly<Record<string, string>>;
  /** W3C Trace Context of the attempt. */
  readonly traceparent?: string;
  /** Aborts on cancel, deadline, lost lease or shutdown, with the cause in `signal.reason`. To be checked before every effect. */
  readonly signal: AbortSignal;
  /** End of the attempt's run time, in milliseconds since the epoch by the clock of this machine. */
  readonly deadline: number;
  /** Sends partial output for watchers, which is no part of the result. */
  readonly onUpdate: (content: string | readonly Content[]) => void;
  readonly onProgress: (progress: ProgressData) => void;
}

/** Requires at least one of `resumeInMs` and `until`. */
export interface SuspendOptions {
  /** Milliseconds after which the tool runs again in any case. */
  readonly resumeInMs?: number;
  /** `input`: a person or a program gives a value. `children`: a child call (`parentCallId`) ends. */
  readonly until?: 'input' | 'children';
  /** Text of the request for people. Only with `until: 'input'`. */
  readonly prompt?: string;
  /** JSON Schema of the value, at most 4,096 bytes. Only with `until: 'input'`. */
  readonly inputSchema?: JsonSchema;
  /** State for the next attempt in `context.resumed.state`, at most 1 MB as JSON. */
  readonly state?: JsonValue;
}

/** Result of `suspend`. */
export class Suspended {
  constructor(readonly options: SuspendOptions) {}
}

/**
 * Ends the attempt without ending the call, which waits without a slot. Then the tool runs again with the same arguments, in
 * any worker of the source, with the reason in `context.resumed`.
 *
 * @example
 * if (resumed?.reason !== 'input') return suspend({ until: 'input', prompt: 'Which branch?', inputSchema: { type: 'string' } });
 * return `on ${String(resumed.input)}`;
 */
export function suspend(options: SuspendOptions): Suspended {
  return new Suspended(options);
}

/** Result of a tool. A string is one text item. */
export type WorkerToolOutput =
  | string
  | readonly Content[]
  | { readonly content: readonly Content[]; readonly isError?: boolean; readonly structuredContent?: unknown }
  | Suspended;

/** Failure that the model should read. */
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

/** Facts of a tool, as in the tools of Toolyard itself. `tier`, `effect` and the like count only if the operator trusts the worker. */
export interface WorkerToolOptions<I extends z.ZodObject = z.ZodObject> extends Facts {
  /** `z.strictObject` rejects unknown keys. Becomes JSON Schema: no refine, transform or coerce. */
  readonly input: I;
  /** Schema of `structuredContent`, which `run` must then return. */
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

/** Applies defaults. The gateway has validated the arguments against the same schema. */
function parse<I extends z.ZodObject>(input: I, args: unknown): z.output<I> {
  const parsed = input.safeParse(args);
  if (parsed.success) return parsed.data;
  throw new WorkerToolError(`The arguments do not fit the schema: ${z.prettifyError(parsed.error)}`, { code: 'invalid_arguments' });
}
