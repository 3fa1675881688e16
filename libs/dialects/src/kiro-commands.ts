import { z } from 'zod';
import { dialectTool, definedFields } from './dialect.js';
import { streamsOf } from './facts.js';
import { json, refusalText } from './kiro-texts.js';

const STREAM_BYTES = Math.floor(400_000 / 3);

const AWS_STREAM_BYTES = Math.floor(100_000 / 3);

const shell = dialectTool({
  name: 'shell',
  aliases: ['execute_bash', 'execute_cmd', 'executeCmd'],
  tool: 'shell',
  description: 'Run a bash command. Answers exit status and both streams, of which the first 133,333 bytes are kept.',
  input: z.strictObject({
    command: z.string().describe('Command to run.'),
    working_dir: z.string().min(1).optional().describe('Folder to run it in.'),
  }),
  adapt: ({ command, working_dir }) => {
    if (command.trim() === '') throw new Error('Command must not be empty');
    return { tool: 'shell', args: definedFields({ command, working_dir, timeout_ms: 600_000 }) };
  },
  result: (result) => {
    const { exitCode, ...streams } = streamsOf(result, STREAM_BYTES, () => ' ... truncated');
    return json({ exit_status: String(exitCode), ...streams });
  },
  refusal: (refusal) => {
    const { working_dir: folder } = refusal.args ?? {};
    const isFolder =
      typeof folder === 'string' &&
      /^(Not a directory|File not found|Path is not a directory)|not a (folder|directory)/i.test(refusal.message);
    return isFolder ? `Working directory is not a directory: ${folder}` : refusalText(refusal);
  },
});

const useAws = dialectTool({
  name: 'use_aws',
  aliases: ['aws', 'useAws'],
  tool: 'aws',
  description: 'Call an operation of an AWS service with the AWS CLI.',
  input: z.strictObject({
    service_name: z.string().min(1).max(64).describe('Service, such as s3api.'),
    operation_name: z.string().min(1).max(128).describe('Operation, such as list-buckets.'),
    region: z.string().min(1).max(64).describe('AWS region.'),
    label: z.string().max(256).describe('What the call is for, in a few words.'),
    positional_args: z.array(z.string().max(4_096)).max(32).optional().describe('Arguments without a name.'),
    parameters: z
      .record(z.string().min(1).max(128), z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .describe('Named parameters.'),
    profile_name: z.string().min(1).max(128).optional().describe('Named profile of the credentials.'),
  }),
  adapt: (args) => ({ tool: 'aws', args: definedFields(args) }),
  result: (result) => {
    const { exitCode, ...streams } = streamsOf(result, AWS_STREAM_BYTES, () => ' ... truncated');
    return json({ exit_status: String(exitCode), ...streams });
  },
});

export const KIRO_COMMANDS = [shell, useAws];
