import { z } from 'zod';
import { Tool } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';

const input = z.looseObject({});

/**
 * The answer of an agent for programs. The session may have a schema for it: `outputSchema` of `PUT /v1/sessions/:id`.
 * Handled by apps/gateway/src/gateway-tools/session-tools.service.ts.
 */
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
export class StructuredOutputTool extends GatewayTool {}
