import { z } from 'zod';
import { Tool, ToolError } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';

export const ToolSearchArguments = z.strictObject({
  query: z
    .string()
    .max(500)
    .describe('"select:name_a,name_b" picks tools by name; else words to search for, "+word" for one that must occur.'),
  max_results: z.number().int().min(1).max(50).default(5).describe('How many to find at most.'),
});

/**
 * Finds tools that the list of the model leaves out, and adds them to the list of the session.
 * Handled by apps/gateway/src/gateway-tools/tool-search.service.ts.
 */
@Tool({
  name: 'tool_search',
  label: 'Search tools',
  description:
    'Finds tools that are there but not in your list of tools, by their names or by words of their descriptions, best first. What is found is in the list of the session from then on.',
  input: ToolSearchArguments,
  tier: 'read_only',
  effect: 'keyed',
  timeoutMs: 30_000,
  aliases: ['ToolSearch'],
  rawArgument: 'query',
  examples: [
    { title: 'By words', arguments: { query: 'notebook edit' } },
    { title: 'By name', arguments: { query: 'select:web_fetch,web_search' } },
  ],
})
export class ToolSearchTool extends GatewayTool {
  check({ query }: z.output<typeof ToolSearchArguments>): void {
    if (query.trim() === '') throw new ToolError('invalid_arguments', 'query must not be empty');
  }
}
