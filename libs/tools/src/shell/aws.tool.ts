import { randomUUID } from 'node:crypto';
import { realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { DisabledSandbox, Sandbox } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { awsArguments } from './command/aws-arguments.js';
import { commandOutput } from './command/command-output.js';
import { findProgram } from './command/programs.js';
import { requireSandbox, runCommand } from './command/run-command.js';
import { commandFormOf } from './command-form.js';

const TIMEOUT_MS = 120_000;

/** Reading operations that still need approval: their output gives access to more, or they write a local file. */
const SECRET_OR_WRITING = [
  '*get-secret*',
  'get-parameter*',
  '*token*',
  '*credential*',
  '*password*',
  '*api-key*',
  '*access-details*',
  '*-login*',
  'get-job-unlock-code',
  'get-game-session-log',
];

const Value = z.union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))]);
const input = z.strictObject({
  service_name: z.string().min(1).max(64).describe('Service of the AWS CLI, such as `s3api` or `ec2`.'),
  operation_name: z.string().min(1).max(128).describe('Operation of the service, such as `list-buckets`.'),
  region: z.string().min(1).max(64).describe('AWS region, such as `eu-central-1`.'),
  label: z.string().max(256).optional().describe('What the call is for, in a few words; shown to people.'),
  positional_args: z.array(z.string().max(4_096)).max(32).optional().describe('Arguments without a name, such as `s3://bucket/key`.'),
  parameters: z
    .record(z.string().min(1).max(128), Value)
    .optional()
    .describe('Named parameters: `{"maxItems": 5}` becomes `--max-items 5`. An empty text, or true, is a flag without a value.'),
  profile_name: z.string().min(1).max(128).optional().describe('Named profile of the credentials. Default: those of the worker.'),
});

@Tool({
  name: 'aws',
  label: 'Use the AWS CLI',
  description:
    'Calls one operation of an AWS service with the AWS CLI and returns its output. No shell takes part: every argument reaches the CLI as it is. ' +
    'Operations that only read (get, list, describe, ls, search, batch-get) run without approval where the policy lets them, but not those that give out secrets or write a file. A non-zero exit code is an error that shows the output. ' +
    'After 120 seconds the CLI is killed. Not available where the worker has no AWS CLI.',
  input,
  tier: 'privileged',
  effect: 'once',
  pool: 'shell',
  requires: ['aws'],
  subjects: [
    {
      kind: 'operation',
      argument: 'operation_name',
      service: 'service_name',
      readOnly: ['get-*', 'list-*', 'describe-*', 'search-*', 'batch-get-*', 'list', 'describe', 'search', 'ls'],
      exceptions: SECRET_OR_WRITING,
      // The name of a local file in other operations: `get-object` writes it.
      readOnlyTargets: { argument: 'positional_args', globs: ['s3://*'] },
    },
  ],
  timeoutMs: TIMEOUT_MS + 10_000,
  aliases: ['use_aws', 'useAws'],
  argumentAliases: { service_name: ['service'], operation_name: ['operation'], positional_args: ['positional'], profile_name: ['profile'] },
  examples: [
    {
      title: 'Five buckets at most',
      arguments: { service_name: 's3api', operation_name: 'list-buckets', region: 'us-east-1', parameters: { maxItems: 5 } },
    },
  ],
})
export class AwsTool {
  constructor(@Optional() private readonly sandbox: Sandbox = new DisabledSandbox('no sandbox was chosen for this process')) {}

  /** @throws ToolError `invalid_arguments` for arguments that the CLI would interpret differently */
  check(args: z.output<typeof input>): void {
    awsArguments(args);
  }

  async run(args: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutputObject> {
    await requireSandbox(this.sandbox, 'aws');
    const found = findProgram(this.sandbox, 'aws', ctx.env['PATH']);
    if ('missing' in found) throw new ToolError('unavailable', found.missing, { retryable: false });
    const { file } = found;
    const root = await realpath(ctx.workspace.root);
    const form = commandFormOf(ctx);
    const env = awsEnvironment(ctx.env);
    const run = { file, args: awsArguments(args), cwd: root, root, limitMs: TIMEOUT_MS, form, env };
    try {
      return commandOutput(await runCommand(this.sandbox, run, ctx), this.sandbox, form, ctx);
    } finally {
      await rm(env.HOME, { recursive: true, force: true });
    }
  }
}

/**
 * The configuration of the CLI can name programs to run (`credential_process`, aliases), so it is the operator's or none: the
 * home is a folder that no tool can have filled, which the CLI makes where it wants to keep something.
 */
function awsEnvironment(given: ToolContext['env']) {
  return {
    HOME: join('/tmp', `aws-${randomUUID()}`),
    AWS_CONFIG_FILE: given['AWS_CONFIG_FILE'] ?? '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: given['AWS_SHARED_CREDENTIALS_FILE'] ?? '/dev/null',
    AWS_PAGER: '',
    AWS_CLI_AUTO_PROMPT: 'off',
  };
}
