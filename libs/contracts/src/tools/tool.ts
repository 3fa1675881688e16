import { z } from 'zod';
import { Json } from '../values/json.js';
import { ToolName } from '../values/names.js';

export const ToolTier = z.enum(['read_only', 'side_effecting', 'privileged']).meta({
  id: 'ToolTier',
  description: 'What a tool may do at most: read, have side effects, or act with privileges such as running commands.',
});
export type ToolTier = z.output<typeof ToolTier>;

export const ToolEffect = z.enum(['pure', 'idempotent', 'keyed', 'once']).meta({
  id: 'ToolEffect',
  description:
    'What running a tool twice does: `pure` nothing, `idempotent` the same as once, `keyed` the same as once because the target honours an idempotency key, `once` something else. A call of the last is never run again after a Start.',
});
export type ToolEffect = z.output<typeof ToolEffect>;

/** Worker pools; each has its own queue, so that a slow family never starves another. */
export const POOLS = ['read', 'write', 'shell', 'net', 'agent'] as const;
export const Pool = z.enum(POOLS).meta({ id: 'Pool', description: 'A queue and the workers that serve it; each tool has one.' });
export type Pool = z.output<typeof Pool>;

export const RetryPolicy = z
  .object({
    maxAttempts: z.number().int().min(1).max(20).describe('Most attempts, the first among them: 1 to 20.'),
    backoffMs: z
      .number()
      .int()
      .min(0)
      .describe(
        'Bound of the wait after the first failure, in milliseconds; it doubles with each further one. The wait is a random part of the bound.',
      ),
    maxBackoffMs: z.number().int().min(0).describe('What the bound does not exceed, in milliseconds.'),
  })
  .meta({ id: 'RetryPolicy', description: 'How often and when a failed attempt is repeated.' });
export type RetryPolicy = z.output<typeof RetryPolicy>;

export const ToolCallers = z.enum(['main', 'sub_agents']).meta({
  id: 'ToolCallers',
  description: 'Which agents have a tool: `main` those that are no sub-agents, `sub_agents` only sub-agents.',
});
export type ToolCallers = z.output<typeof ToolCallers>;

export const JsonSchema = z.record(z.string(), Json);
export type JsonSchema = z.output<typeof JsonSchema>;

/**
 * Argument that carries risk, so that policy can evaluate it without knowing the tool: a path that the tool reads or writes, a
 * command line, a URL, an operation (of the service in another argument), an agent to be started. An array argument means each
 * of its strings, or with `field` that field of each of its objects. `readOnly`: globs of operations that only read.
 */
export const ToolSubject = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('path'),
      argument: z.string().describe('The argument with the path. An array means each of its texts.'),
      field: z.string().optional().describe('In an array of objects, the field with the path. Absent for texts.'),
      access: z.enum(['read', 'write']).describe('What the tool does with the path.'),
    }),
    z.object({
      kind: z.literal('command'),
      argument: z.string().describe('The argument with the command line.'),
      language: z
        .string()
        .optional()
        .describe('The language of the text where it is not a shell command, such as `powershell`. Absent for a shell command.'),
      languageArgument: z
        .string()
        .optional()
        .describe('The argument that names the language of the text. Absent where there is only one language.'),
    }),
    z.object({ kind: z.literal('url'), argument: z.string().describe('The argument with the URL.') }),
    z.object({
      kind: z.literal('operation'),
      argument: z.string().describe('The argument with the operation.'),
      service: z.string().optional().describe('The argument that names the service. Absent for a tool of one service.'),
      readOnly: z.array(z.string()).optional().describe('Globs of operations that only read. Absent where none is known.'),
      exceptions: z
        .array(z.string())
        .optional()
        .describe('Globs of operations, or of `service:operation`, that `readOnly` does not mean: they give out secrets or write files.'),
      readOnlyTargets: z
        .object({
          argument: z.string().describe('The argument with what the operation is done to. An array means each of its texts.'),
          globs: z.array(z.string()).describe('An operation with another text only reads in no case, as it may write a file of that name.'),
        })
        .optional()
        .describe('What an operation that only reads may be done to. Absent where it may be anything.'),
    }),
    z.object({
      kind: z.literal('agent'),
      argument: z.string().describe('The argument with the agent to be started. An array means each of its texts.'),
      field: z.string().optional().describe('In an array of objects, the field with the name. Absent for texts.'),
    }),
  ])
  .meta({ id: 'ToolSubject', description: 'An argument that carries risk, so that policy can evaluate it without knowing the tool.' });
export type ToolSubject = z.output<typeof ToolSubject>;

export const ToolExample = z
  .object({
    title: z.string().describe('What the example shows.'),
    arguments: Json.describe('Arguments of a call that works.'),
    setup: z
      .array(
        z.object({ tool: ToolName.describe('The tool to call before.'), arguments: z.record(z.string(), Json).describe('Its arguments.') }),
      )
      .optional()
      .describe('Calls to make before, so that the example works in an empty workspace, too. Absent where none is needed.'),
  })
  .meta({ id: 'ToolExample', description: 'Arguments that show what a tool does.' });
export type ToolExample = z.output<typeof ToolExample>;

/** Optional parts of a worker besides its pools. */
export const WorkerPart = z.enum(['memory', 'browser', 'powershell', 'aws', 'language_servers']);
export type WorkerPart = z.output<typeof WorkerPart>;

/** Groups of tools that exist only if a policy enables them. */
export const ToolFeature = z.enum(['session_management']).meta({ id: 'ToolFeature' });
export type ToolFeature = z.output<typeof ToolFeature>;

export const ToolDescriptor = z
  .object({
    name: ToolName.describe('Canonical name, as models use it.'),
    canonicalName: ToolName.optional().describe('The tool behind a name of a dialect. Absent in the canonical catalog.'),
    label: z.string().describe('A name for people.'),
    description: z.string().min(1).describe('What the tool does, for the model.'),
    undescribed: z
      .literal(true)
      .optional()
      .describe('Its source gives no description, and `description` only says that. Absent where it gives one.'),
    source: z.string().describe('Where the tool comes from, such as `builtin`.'),
    version: z.string().describe('Digest of name, schema and facts: what an approval is bound to.'),
    input: JsonSchema.describe('JSON Schema of the arguments.'),
    output: JsonSchema.optional().describe('JSON Schema of `structuredContent`. Absent for a tool without one.'),
    tier: ToolTier.describe('What the tool may do at most.'),
    effect: ToolEffect.describe('What running the tool twice does.'),
    pool: Pool.describe('The pool whose workers run it.'),
    requires: z.array(WorkerPart).optional().describe('What a worker must have to run it. Absent for nothing.'),
    feature: ToolFeature.optional().describe('It is there only where `policy.features` names this. Absent: always.'),
    subjects: z.array(ToolSubject).default([]).describe('Arguments that carry risk, which policy evaluates.'),
    timeoutMs: z.number().int().positive().describe('Longest run of one attempt in milliseconds, where the call does not say less.'),
    retry: RetryPolicy.describe('How often and when a failed attempt is repeated, where the call does not say.'),
    aliases: z.array(z.string()).describe('Other names that calls may use.'),
    callers: ToolCallers.optional().describe('Which agents have it. Absent: all.'),
    deferred: z
      .literal(true)
      .optional()
      .describe('Lists for models leave it out until `tool_search` finds it in the session. Absent: they do not.'),
    examples: z.array(ToolExample).describe('Calls that show what the tool does.'),
    annotations: z
      .object({
        readOnlyHint: z.boolean().describe('It changes nothing.'),
        destructiveHint: z.boolean().describe('It may destroy something.'),
        idempotentHint: z.boolean().describe('Twice does the same as once.'),
        openWorldHint: z.boolean().describe('It reaches systems outside.'),
      })
      .describe('Hints as the Model Context Protocol has them.'),
    available: z
      .object({
        ok: z.boolean().describe('A worker serves its pool and has what the tool needs.'),
        reason: z.string().optional().describe('Why not. Absent when it can run.'),
      })
      .describe('Whether calls of it can run now.'),
  })
  .meta({ id: 'Tool', description: 'A tool as the catalog shows it.' });
export type ToolDescriptor = z.output<typeof ToolDescriptor>;
