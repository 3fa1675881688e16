import type { z } from 'zod';
import { REQUIRED_MODE, type Json, type ToolDescriptor, type ToolFormat } from '#contracts';

/** A tool in the shape that a model's API or MCP wants in its list of tools. */
type ModelTool = Record<string, z.output<typeof Json>>;

/** Tools in the requested shape. Only `full` has label and facts: the others are passed to models unchanged. */
export function formatCatalog(tools: readonly ToolDescriptor[], format: 'full'): ToolDescriptor[];
export function formatCatalog(tools: readonly ToolDescriptor[], format: Exclude<ToolFormat, 'full'>): ModelTool[];
export function formatCatalog(tools: readonly ToolDescriptor[], format: ToolFormat): ToolDescriptor[] | ModelTool[] {
  switch (format) {
    case 'full':
      return [...tools];
    case 'mcp':
      return tools.map(toMcp);
    case 'anthropic':
      return tools.map(({ name, description, input }) => ({ name, description, input_schema: input }));
    case 'openai':
      return tools.map(({ name, description, input }) => ({ type: 'function', function: { name, description, parameters: input } }));
    case 'openai-responses':
      // `strict` is false, since strict mode does not allow schemas with optional fields.
      return tools.map(({ name, description, input }) => ({ type: 'function', name, description, parameters: input, strict: false }));
    case 'function':
      return tools.map(({ name, description, undescribed, input }) => ({
        name,
        ...(undescribed === true ? {} : { description }),
        parameters: input,
      }));
    case 'permissions':
      return tools.map(({ name, description, input, tier }) => ({
        name,
        description,
        input_schema: input,
        required_permission: REQUIRED_MODE[tier],
      }));
    default:
      return format satisfies never;
  }
}

/** True if a tool matches a search: every word occurs in its name, aliases, label or description. */
export function matchesSearch(tool: ToolDescriptor, query: string): boolean {
  const text = [tool.name, ...tool.aliases, tool.label, tool.description].join('\n').toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** A tool as `tools/list` of MCP has it. */
function toMcp({ name, label, description, input, output, annotations }: ToolDescriptor): ModelTool {
  const tool = { name, title: label, description, inputSchema: input, annotations };
  return output === undefined ? tool : { ...tool, outputSchema: output };
}
