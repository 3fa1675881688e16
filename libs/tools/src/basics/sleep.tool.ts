import { z } from 'zod';
import { Suspension, Tool, type ToolContext, type ToolOutput } from '#tool-sdk';

const LONGEST_MS = 24 * 3_600_000;
const input = z.strictObject({
  duration_ms: z.number().int().min(0).max(LONGEST_MS).describe('How long to wait, in milliseconds (at most 86,400,000: a day).'),
});

/** Waits without holding a worker: the call is suspended and comes back when the time is over. */
@Tool({
  name: 'sleep',
  label: 'Sleep',
  description: 'Waits for a time and then answers "Slept for {n}ms". At most 24 hours. Can be cancelled at any moment.',
  input,
  tier: 'read_only',
  timeoutMs: 10_000,
  argumentAliases: { duration_ms: ['durationMs', 'ms'] },
  examples: [{ title: 'No time at all', arguments: { duration_ms: 0 } }],
})
export class SleepTool {
  run({ duration_ms }: z.output<typeof input>, ctx: ToolContext): ToolOutput {
    const remainingMs = duration_ms - ctx.sinceFirstStartMs;
    if (remainingMs > 0) return new Suspension(remainingMs);
    return { content: [{ type: 'text', text: `Slept for ${duration_ms}ms` }], details: { duration_ms } };
  }
}
