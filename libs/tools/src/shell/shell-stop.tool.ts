import { setTimeout as sleep } from 'node:timers/promises';
import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Suspension, Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { NoToolGateway, ToolGateway } from '../gateway/tool-gateway.port.js';
import { BackgroundRuns } from './background/background-runs.port.js';
import { NO_BACKGROUND, noSuchRun, requireSession, runDetails, stateOf } from './background/run-text.js';

const LOOK_MS = 100;
/** Longer than a command has between SIGTERM and SIGKILL. */
const PATIENCE_MS = 10_000;

const input = z.strictObject({
  task_id: z.string().min(1).max(128).describe('Id of the background run, as shell with background answered it.'),
});

@Tool({
  name: 'shell_stop',
  label: 'Stop a background run',
  description:
    'Stops a command that shell runs in the background, with everything that it started: SIGTERM, and after a grace period SIGKILL. ' +
    'A run that has ended already stays as it is. Knows only the background runs of its own session.',
  input,
  tier: 'side_effecting',
  effect: 'idempotent',
  timeoutMs: 60_000,
  argumentAliases: { task_id: ['taskId'] },
  rawArgument: 'task_id',
  examples: [{ title: 'Stop a server', arguments: { task_id: '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V' } }],
})
export class ShellStopTool {
  constructor(
    @Optional() private readonly runs?: BackgroundRuns,
    @Optional() private readonly gateway: ToolGateway = new NoToolGateway(),
  ) {}

  async run({ task_id }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    requireSession(ctx.sessionId);
    const { runs } = this;
    if (runs === undefined) throw new ToolError('unavailable', NO_BACKGROUND, { retryable: false });
    const asked = await this.gateway.run(ctx, { task_id });
    if (asked instanceof Suspension) return asked;
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      ctx.signal.throwIfAborted();
      const output = await runs.output(ctx, task_id, 0, 0);
      if (output === undefined) throw noSuchRun(task_id);
      const { run } = output;
      if (run.status === 'ended' || performance.now() >= until) {
        const state = run.status === 'ended' ? stateOf(run) : 'it is being stopped';
        return {
          content: [{ type: 'text', text: `${task_id}: ${state}` }],
          details: runDetails(run),
        };
      }
      await sleep(LOOK_MS, undefined, { signal: ctx.signal }).catch(() => undefined);
    }
  }
}
