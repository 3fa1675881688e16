import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Tool, type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { BackgroundRuns } from './background/background-runs.port.js';
import { NO_BACKGROUND, requireSession, runDetails, stateOf } from './background/run-text.js';

const COMMAND_CHARACTERS = 120;

@Tool({
  name: 'shell_list',
  label: 'List background runs',
  description:
    'Lists the commands that shell runs, or has run, in the background of this session, newest first, with their ids and states.',
  input: z.strictObject({}),
  tier: 'read_only',
  examples: [{ title: 'All of the session', arguments: {} }],
})
export class ShellListTool {
  constructor(@Optional() private readonly runs?: BackgroundRuns) {}

  async run(_args: object, ctx: ToolContext): Promise<ToolOutputObject> {
    requireSession(ctx.sessionId);
    if (this.runs === undefined) throw new ToolError('unavailable', NO_BACKGROUND, { retryable: false });
    const runs = await this.runs.list(ctx);
    const lines = runs.map((run) => `${run.taskId}  ${stateOf(run)}  since ${run.startedAt}: ${cut(run.command)}`);
    const text = lines.length === 0 ? 'This session has no background runs.' : lines.join('\n');
    return { content: [{ type: 'text', text }], details: { runs: runs.map(runDetails) } };
  }
}

function cut(command: string): string {
  const line = command.replaceAll(/\s+/g, ' ').trim();
  return line.length <= COMMAND_CHARACTERS ? line : `${line.slice(0, COMMAND_CHARACTERS)}…`;
}
