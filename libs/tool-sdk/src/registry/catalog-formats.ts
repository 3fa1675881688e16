import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';
import { REQUIRED_MODE, type Json, type ToolDescriptor, type ToolFormat } from '#contracts';
import { modelTool } from '../model/model-tool.js';

/** A tool in the shape that a model's API or MCP wants in its list of tools. */
type ModelTool = Record<string, z.output<typeof Json>>;

/** Pause of long work, after so many milliseconds. */
const YIELD_AFTER_MS = 10;

/**
 * Tools in the requested shape. `full` is the catalog as it is. The others are for models, without facts. Their schemas are those
 * that APIs of models accept, except for `mcp`: its clients read any schema and fit it to their model themselves, and the
 * conformance suite of MCP wants each keyword as the source wrote it. Thousands of large schemas hold up nothing else.
 */
export function formatCatalog(tools: readonly ToolDescriptor[], format: 'full'): Promise<ToolDescriptor[]>;
export function formatCatalog(tools: readonly ToolDescriptor[], format: Exclude<ToolFormat, 'full'>): Promise<ModelTool[]>;
export async function formatCatalog(tools: readonly ToolDescriptor[], format: ToolFormat): Promise<ToolDescriptor[] | ModelTool[]> {
  if (format === 'full') return [...tools];
  // An API of Anthropic may be behind every format that is not of another API.
  const names = format === 'openai' || format === 'openai-responses' ? 'own' : 'plain';
  const formatted: ModelTool[] = [];
  let yieldedAt = performance.now();
  for (const tool of tools) {
    formatted.push(format === 'mcp' ? toMcp(tool) : formatTool(modelTool(tool, names), format));
    if (performance.now() - yieldedAt < YIELD_AFTER_MS) continue;
    await setImmediate();
    yieldedAt = performance.now();
  }
  return formatted;
}

function formatTool(tool: ToolDescriptor, format: Exclude<ToolFormat, 'full' | 'mcp'>): ModelTool {
  const { name, description, input } = tool;
  switch (format) {
    case 'anthropic':
      return { name, description, input_schema: input };
    case 'openai':
      return { type: 'function', function: { name, description, parameters: input } };
    case 'openai-responses':
      // `strict` is false, since strict mode does not allow schemas with optional fields.
      return { type: 'function', name, description, parameters: input, strict: false };
    case 'function':
      return { name, ...(tool.undescribed === true ? {} : { description }), parameters: input };
    case 'permissions':
      return { name, description, input_schema: input, required_permission: REQUIRED_MODE[tool.tier] };
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
