import { z } from 'zod';
import { CallId, Label } from '../values/names.js';
import { Json } from '../values/json.js';
import { Content } from '../values/result.js';
import { Problem } from '../errors/problem.js';
import { JsonSchema, Pool, RetryPolicy, ToolEffect, ToolExample, ToolSubject, ToolTier } from '../tools/tool.js';

export const WORKER_PROTOCOL = 'toolyard-worker/1';
/** WebSocket subprotocol of `GET /v1/worker`. */
export const WORKER_SUBPROTOCOL = 'toolyard-worker.1';
export const WORKER_PATH = '/v1/worker';

export const WORKER_LIMITS = {
  /** Bytes of one frame. */
  frameBytes: 1_048_576,
  /** As `LIMITS.jsonParts`: an announcement has the schemas of all tools. One object has at most `LIMITS.jsonParts` members. */
  jsonParts: 100_000,
  /** Tools of one worker. */
  tools: 1_000,
  /** Credit of one pool, and concurrent calls of one worker. */
  credit: 1_000,
  /** Frames of one long-poll request. */
  frames: 1_000,
  waitSeconds: 30,
  /** Bytes of an output sent separately from the frames. */
  outputBytes: 8_388_608,
} as const;

/** Group of workers with the same tools: the source of their tools in the catalog. */
export const WorkerName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, 'expected a lower-case letter, then at most 31 lower-case letters, digits or -')
  .describe('Name of the source: workers with the same name in a tenant share tools and calls.');
const fence = z.number().int().min(1).describe('As in the `call`. A frame with an older one is answered by `stale`.');
const wseq = z
  .number()
  .int()
  .min(1)
  .describe('Counts the frames of the worker about this attempt: 1, 2, 3. A repeated one is not applied again.');
const ofCall = { callId: CallId.describe('The call.'), fence };

/** Announced tool of a worker. `tier`, `effect` and the like count only if the operator trusts the source. */
export const WorkerTool = z
  .strictObject({
    name: z.string().min(1).max(128).describe('Name by which the worker knows the tool.'),
    label: z.string().max(200).optional().describe('Name for people.'),
    description: z.string().max(20_000).describe('What the tool does, for the model.'),
    input: JsonSchema.describe('JSON Schema of the arguments: an object.'),
    output: JsonSchema.optional().describe('JSON Schema of `structuredContent` of the result.'),
    pool: Pool.optional().describe('Pool whose credit its calls use. Default: net.'),
    tier: ToolTier.optional().describe('Counts in a trusted source. Else: privileged.'),
    effect: ToolEffect.optional().describe('Counts in a trusted source. Else: once.'),
    timeoutMs: z.number().int().min(1).max(86_400_000).optional().describe('Run time of an attempt; counts in a trusted source.'),
    retry: RetryPolicy.partial().optional().describe('Counts in a trusted source.'),
    subjects: z.array(ToolSubject).max(32).optional().describe('Arguments that policy evaluates; count in a trusted source.'),
    examples: z.array(ToolExample).max(32).optional().describe('Examples of calls; count in a trusted source.'),
  })
  .meta({ id: 'WorkerTool', description: 'A tool as a worker announces it.' });
export type WorkerTool = z.output<typeof WorkerTool>;

const WorkerTools = z.array(WorkerTool).max(WORKER_LIMITS.tools);

export const WorkerHello = z
  .strictObject({
    op: z.literal('hello'),
    protocol: z.literal(WORKER_PROTOCOL).describe('Version of the protocol.'),
    worker: WorkerName,
    sdk: z.string().min(1).max(128).describe('Language and library, such as `python/1.0`. Shown by `GET /v1/workers`.'),
    labels: z.record(z.string().min(1).max(64), z.string().max(256)).optional().describe('Shown by `GET /v1/workers`.'),
    tools: WorkerTools.describe('Every tool that the worker can run.'),
  })
  .describe('First frame of a connection. Answered by `welcome` or `refused`.')
  .meta({ id: 'WorkerHello' });
export type WorkerHello = z.output<typeof WorkerHello>;

export const WorkerCredit = z
  .strictObject({
    op: z.literal('credit'),
    pool: Pool.describe('The pool.'),
    n: z.number().int().min(1).max(WORKER_LIMITS.credit).describe('How many more calls may be sent.'),
  })
  .describe('So many more calls may be sent. No call is sent without credit.');

const WorkerError = z
  .strictObject({
    code: z.string().min(1).max(64).describe('Of the worker; shown in the message.'),
    message: z.string().max(8_192).describe('For the model: what failed, and what to do.'),
    retryable: z
      .boolean()
      .default(false)
      .describe('The same call may succeed later. It runs again only if the effect of the tool allows it.'),
  })
  .meta({ id: 'WorkerError', description: 'Why a worker could not complete a call.' });

/** Reference to a text sent by `PUT /v1/calls/{id}/output`. */
export const WorkerOutput = z
  .object({
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits')
      .describe('SHA-256 of its bytes, 64 lower-case hexadecimal digits.'),
    bytes: z.number().int().min(0).max(WORKER_LIMITS.outputBytes).describe('Its size in UTF-8.'),
  })
  .meta({ id: 'WorkerOutput', description: 'An output that was sent beside the frames.' });
export type WorkerOutput = z.output<typeof WorkerOutput>;

export const WorkerFrame = z
  .discriminatedUnion('op', [
    WorkerHello,
    WorkerCredit,
    z.strictObject({ op: z.literal('started'), ...ofCall }).describe('The worker has the call and runs it.'),
    z
      .strictObject({
        op: z.literal('update'),
        ...ofCall,
        wseq,
        content: z.array(Content).max(100).describe('Partial output, for watchers.'),
      })
      .describe('Partial output. It is no part of the result.'),
    z
      .strictObject({
        op: z.literal('progress'),
        ...ofCall,
        message: z.string().max(1_024).optional().describe('What is being done.'),
        done: z.number().optional().describe('Units that are done.'),
        total: z.number().optional().describe('Units in all.'),
      })
      .describe('How far the call is. Only the newest counts.'),
    z
      .strictObject({
        op: z.literal('renew'),
        callIds: z.array(CallId).max(WORKER_LIMITS.credit).describe('Calls that the worker runs.'),
        fences: z.array(fence).max(WORKER_LIMITS.credit).describe('Their fences, in the same order.'),
      })
      .describe(
        'Keeps the leases. After a reconnect, to any gateway, it attaches the calls to the new connection; calls of a gateway that is gone go on there under the same fence. Refused calls are answered by `stale`.',
      ),
    z
      .strictObject({
        op: z.literal('finish'),
        ...ofCall,
        wseq,
        outcome: z.enum(['completed', 'failed']).describe('`failed`: expected `error`.'),
        content: z.array(Content).max(1_000).optional().describe('What the model gets.'),
        isError: z.boolean().optional().describe('A completed call that the model reads as an error.'),
        structuredContent: Json.optional().describe('Expected when the tool has an output schema.'),
        output: WorkerOutput.optional().describe(
          'What `PUT /v1/calls/{id}/output` answered: a text for the model below `content`, too large for a frame.',
        ),
        error: WorkerError.optional().describe('Why it failed.'),
      })
      .describe('Ends the attempt. To be repeated until it is answered by `done` or `stale`; a repetition is answered alike.'),
    z
      .strictObject({
        op: z.literal('suspend'),
        ...ofCall,
        resumeInMs: z.number().int().min(0).max(86_400_000).optional().describe('The call comes again after this time.'),
        until: z
          .enum(['input', 'children'])
          .optional()
          .describe(
            '`input`: the call comes again with the value of a person or program. `children`: it comes again when a call ends that it made (`parentCallId`), and without `resumeInMs` in any case after 15 s to 10 minutes, the longer it takes.',
          ),
        prompt: z.string().max(8_192).optional().describe('What is asked for. 2,048 bytes of it are kept.'),
        inputSchema: JsonSchema.optional().describe('JSON Schema of the value, at most 4,096 bytes. Other values are refused.'),
        state: Json.optional().describe('What the next attempt gets back, at most 1 MiB as JSON. Only workers of the tool see it.'),
      })
      .describe('Frees the slot; the call comes again later, with `resumed`. Expected is `resumeInMs`, `until`, or both.'),
    z
      .strictObject({
        op: z.literal('tools'),
        added: WorkerTools.default([]).describe('New tools.'),
        changed: WorkerTools.default([]).describe('Tools that replace those of the same name.'),
        removed: z.array(z.string().max(128)).max(WORKER_LIMITS.tools).default([]).describe('Names of tools that are gone.'),
      })
      .describe('Changes the announced tools.'),
    z.strictObject({ op: z.literal('drain') }).describe('No more calls, whatever the credit; those that run go on.'),
    z
      .strictObject({ op: z.literal('bye') })
      .describe('The worker goes. Calls that it has not finished go back to the queue, or end as unknown.'),
    z.strictObject({ op: z.literal('pong') }).describe('Answers `ping`.'),
  ])
  .meta({ id: 'WorkerFrame', description: 'A frame that a worker sends.' });
export type WorkerFrame = z.output<typeof WorkerFrame>;

export const WorkerWelcome = z
  .object({
    op: z.literal('welcome'),
    workerId: z.string().describe('Of this connection, as `GET /v1/workers` shows it.'),
    leaseMs: z.number().int().describe('A call that is not renewed for so long is taken away.'),
    heartbeatMs: z.number().int().describe('How often to renew, and how often `ping` comes.'),
    tools: z
      .array(z.object({ name: z.string().describe('As announced.'), pool: Pool.describe('Whose credit its calls use.') }))
      .describe('The tools that were taken into the catalog.'),
    problems: z.array(z.string()).describe('Tools that were left out, with the reason.'),
  })
  .describe('Answers `hello`.')
  .meta({ id: 'WorkerWelcome' });
export type WorkerWelcome = z.output<typeof WorkerWelcome>;

export const WorkerCall = z
  .object({
    op: z.literal('call'),
    ...ofCall,
    attempt: z.number().int().describe('Counts from 1.'),
    tool: z.string().describe('As announced.'),
    arguments: z.record(z.string(), Json).describe('Checked against the schema.'),
    deadlineMs: z.number().int().describe('Milliseconds that the attempt may take from now on. No clocks are compared.'),
    session: Label.optional().describe('The session of the call.'),
    workspace: z
      .string()
      .optional()
      .describe('Folder with the files of the session, as this worker sees it. Absent where the operator has not said where that is.'),
    secrets: z
      .record(z.string(), z.string())
      .optional()
      .describe('Secrets that the operator gives to this tool, by name. To be forgotten with the call. Absent without any.'),
    resumed: z
      .object({
        reason: z.enum(['timer', 'woken', 'input']).describe('Why the call comes again.'),
        state: Json.optional().describe('As the suspension gave it. Absent where it gave none.'),
        input: Json.optional().describe('The value that was asked for. Present where the reason is `input`.'),
      })
      .optional()
      .describe('The last suspension of the call. Absent where it was never suspended.'),
    traceparent: z.string().optional().describe('W3C Trace Context of the attempt.'),
  })
  .describe('A call to run, claimed for this worker. The same `callId` and `fence` is the same attempt: it is to run once.')
  .meta({ id: 'WorkerCall' });
export type WorkerCall = z.output<typeof WorkerCall>;

export const WorkerServerFrame = z
  .discriminatedUnion('op', [
    WorkerWelcome,
    z
      .object({
        op: z.literal('refused'),
        problem: Problem.describe('What was expected, what came, and what to do.'),
        callId: CallId.optional().describe('The call that it is about.'),
      })
      .describe('A frame was refused. After a refused `hello` the connection is closed.'),
    WorkerCall,
    z
      .object({ op: z.literal('done'), callId: CallId.describe('The call.'), fence })
      .describe('Answers `finish` and `suspend`: it is written.'),
    z
      .object({ op: z.literal('stale'), callId: CallId.describe('The call.'), fence })
      .describe('The attempt is no longer of this worker, or has ended: to be stopped, nothing more is to be sent about it.'),
    z
      .object({
        op: z.literal('cancel'),
        ...ofCall,
        reason: z.enum(['cancelled', 'run_timeout', 'drained', 'lease_lost']).describe('Why the attempt is to stop.'),
        graceMs: z.number().int().describe('How long `finish` is still taken.'),
      })
      .describe('The call is to stop, and to be finished within the grace.'),
    z
      .object({ op: z.literal('drain') })
      .describe('No more calls come on this connection. When the running ones are finished: `bye`, and connect again.'),
    z.object({ op: z.literal('ping') }).describe('To be answered by `pong`.'),
  ])
  .meta({ id: 'WorkerServerFrame', description: 'A frame that a worker gets.' });
export type WorkerServerFrame = z.output<typeof WorkerServerFrame>;

export type WorkerFrameOf<Op extends WorkerFrame['op']> = Extract<WorkerFrame, { op: Op }>;
export type WorkerServerFrameOf<Op extends WorkerServerFrame['op']> = Extract<WorkerServerFrame, { op: Op }>;
