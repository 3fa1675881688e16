import { setTimeout as sleep } from 'node:timers/promises';
import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Tool, type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { type BackgroundOutput, BackgroundRuns } from './background/background-runs.port.js';
import { NO_BACKGROUND, noSuchRun, requireSession, runDetails, stateOf } from './background/run-text.js';

const MOST_WAIT_SECONDS = 30;
const LOOK_MS = 250;
/** Less than the limit for results, so that no text after the returned position is cut. */
const MOST_BYTES = 12_000;

const input = z.strictObject({
  task_id: z
    .string()
    .min(1)
    .max(128)
    .describe('Id of the background run, as shell with background answered it; with from_byte, the id that a truncated output names.'),
  since: z.number().int().min(0).default(0).describe('The position that the last answer named; 0: from the beginning.'),
  from_byte: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('In place of since: read the whole output of any command of this session that has ended, from this byte on.'),
  wait_seconds: z
    .number()
    .min(0)
    .max(MOST_WAIT_SECONDS)
    .default(0)
    .describe('Wait at most so long for new output or the end. Default 0, at most 30.'),
});
type Input = z.output<typeof input>;

@Tool({
  name: 'shell_output',
  label: 'Read a background run',
  description:
    'Shows the output of a command that shell runs in the background since a position, with its state and exit code. ' +
    'With from_byte it reads on in an output that was too long to be shown. ' +
    'At most 12,000 bytes at once; ask again with since: position for the rest. Output that comes faster than 8 KiB in a quarter of a second, or after 1 MiB, is left out and said so. ' +
    'Knows only the background runs of its own session.',
  input,
  tier: 'read_only',
  timeoutMs: (MOST_WAIT_SECONDS + 10) * 1_000,
  argumentAliases: { task_id: ['taskId'], since: ['position'], wait_seconds: ['wait'] },
  rawArgument: 'task_id',
  examples: [
    { title: 'What came since, waiting a little', arguments: { task_id: '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V', since: 12, wait_seconds: 5 } },
    { title: 'The middle of a long output', arguments: { task_id: '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V', from_byte: 4_096 } },
  ],
})
export class ShellOutputTool {
  constructor(@Optional() private readonly runs?: BackgroundRuns) {}

  async run(args: Input, ctx: ToolContext): Promise<ToolOutputObject> {
    requireSession(ctx.sessionId);
    if (args.from_byte !== undefined) return this.readWhole(args.task_id, args.from_byte, ctx);
    return render(await this.read(args, ctx), args.since);
  }

  private async readWhole(callId: string, fromByte: number, ctx: ToolContext): Promise<ToolOutputObject> {
    if (this.runs === undefined) throw new ToolError('unavailable', NO_BACKGROUND, { retryable: false });
    const part = await this.runs.wholeOutput(ctx, callId, fromByte, MOST_BYTES);
    if (part === undefined)
      throw new ToolError('tool_failed', `This session has no ended command ${callId.slice(0, 100)}.`, { retryable: false });
    const { text, from, to, totalBytes } = part;
    const [first, last, total] = [from, to, totalBytes].map((bytes) => bytes.toLocaleString('en-US'));
    const more = to < totalBytes ? `\n[there is more: ask again with from_byte: ${to}]` : '';
    return {
      content: [{ type: 'text', text: `${text}\n[${callId}: bytes ${first} to ${last} of ${total}]${more}` }],
      details: { taskId: callId, from, to, totalBytes },
    };
  }

  /** Holds a slot of the pool `read` while it waits. */
  private async read({ task_id, since, wait_seconds }: Input, ctx: ToolContext): Promise<BackgroundOutput> {
    if (this.runs === undefined) throw new ToolError('unavailable', NO_BACKGROUND, { retryable: false });
    const until = performance.now() + wait_seconds * 1_000;
    for (;;) {
      ctx.signal.throwIfAborted();
      const output = await this.runs.output(ctx, task_id, since, MOST_BYTES);
      if (output === undefined) throw noSuchRun(task_id);
      const leftMs = until - performance.now();
      if (output.text !== '' || output.run.status === 'ended' || leftMs <= 0) return output;
      await sleep(Math.min(LOOK_MS, leftMs), undefined, { signal: ctx.signal }).catch(() => undefined);
    }
  }
}

function render({ run, text, position, hasMore, truncated }: BackgroundOutput, since: number): ToolOutputObject {
  const state = stateOf(run);
  const notes = [
    `[${run.taskId}: ${state}; position ${position}]`,
    ...(truncated ? [`[some output was left out${run.status === 'ended' ? '; with from_byte: 0 you read it as it was kept' : ''}]`] : []),
    ...(hasMore ? [`[there is more: ask again with since: ${position}]`] : []),
  ];
  const nothing = since === 0 ? '(no output yet)' : '(no new output)';
  const shown = text === '' ? nothing : text;
  return {
    content: [{ type: 'text', text: `${shown}${shown.endsWith('\n') ? '' : '\n'}${notes.join('\n')}` }],
    details: { ...runDetails(run), position, hasMore, truncated },
  };
}
