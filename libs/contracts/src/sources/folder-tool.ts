import { z } from 'zod';
import { ToolName } from '../values/names.js';
import { JsonSchema, Pool, ToolEffect, ToolTier } from '../tools/tool.js';
import { SecretEnv } from './source-fields.js';

/** Value of a variable. Excludes files: the author of a tool could read any file of the workers. */
const Variable = z.union([z.string().max(4_096), SecretEnv], {
  error: 'expected a text or {secretEnv: NAME}; `secretFile` is for the config file only',
});

/** Content of a folder tool's `tool.yaml`. */
export const FolderTool = z
  .strictObject({
    $schema: z.string().optional().describe('For editors.'),
    name: ToolName.describe('The name by which models call the tool.'),
    label: z.string().max(200).optional().describe('For people. Default: the name.'),
    description: z.string().min(1).max(20_000).describe('For the model: what the tool does, its limits and its errors.'),
    input: JsonSchema.describe('JSON Schema of the arguments, an object. They come as one JSON document on standard input.'),
    output: JsonSchema.optional().describe('JSON Schema of the result. Standard output must then be one JSON document.'),
    tier: ToolTier.optional().describe('What the tool may do. Default: `privileged`.'),
    effect: ToolEffect.optional().describe('What a second run does. Default: `pure` for the tier `read_only`, otherwise `once`.'),
    timeoutMs: z.number().int().min(1).max(86_400_000).optional().describe('Run time of one attempt. Default: 120,000.'),
    pool: Pool.optional().describe('The workers and the sandbox that run it. Default: `shell`.'),
    run: z
      .array(z.string().min(1).max(4_096))
      .min(1)
      .max(64)
      .describe(
        'Program and arguments. Words that begin with `./`, and those that name a file there, are files of the folder of the tool.',
      ),
    env: z.record(z.string(), Variable).optional().describe('Further variables: texts, or secrets of the worker by `secretEnv`.'),
  })
  .meta({ id: 'FolderTool' });
export type FolderTool = z.output<typeof FolderTool>;
