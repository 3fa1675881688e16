import { z } from 'zod';
import type { Json } from '#contracts';
import { Tool, type ToolOutput } from '#tool-sdk';

const input = z.looseObject({});

/** Echo for health checks and measurements of the whole path of a call. */
@Tool({
  name: 'echo',
  label: 'Echo',
  description: 'Returns its arguments unchanged, as JSON. Takes any arguments. Use it to check that tool calls work.',
  input,
  tier: 'read_only',
  timeoutMs: 10_000,
  examples: [{ title: 'A text', arguments: { text: 'hello' } }],
})
export class EchoTool {
  run(args: z.output<typeof input>): ToolOutput {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gateway parsed the arguments from JSON; a schema over every value would cost more than the rest of the call
    return [{ type: 'json', json: args as z.output<typeof Json> }];
  }
}
