import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { NoToolGateway, ToolGateway } from '../gateway/tool-gateway.port.js';

const input = z.looseObject({});

/** The answer of an agent for programs. The session may have a schema for it: `outputSchema` of `PUT /v1/sessions/:id`. */
@Tool({
  name: 'structured_output',
  label: 'Structured output',
  description:
    'Gives the final answer as a JSON object: the arguments are the object itself. Where the session has a schema for it, an object that does not fit is refused and the errors say why; send it again corrected.',
  input,
  tier: 'read_only',
  timeoutMs: 30_000,
  examples: [{ title: 'An answer', arguments: { city: 'Berlin', degrees: 21 } }],
})
export class StructuredOutputTool {
  constructor(@Optional() private readonly gateway: ToolGateway = new NoToolGateway()) {}

  run(args: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    return this.gateway.run(ctx, args);
  }
}
