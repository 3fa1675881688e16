import type { ToolDescriptor, ToolFormat } from '#contracts';

/** How MCP lists a tool (`tools/list`). */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ToolDescriptor['input'];
  readonly outputSchema?: ToolDescriptor['input'];
  readonly annotations: ToolDescriptor['annotations'];
}

/** A tool for Anthropic's Messages API. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ToolDescriptor['input'];
}

/** A tool for OpenAI's Chat Completions API. */
export interface OpenAiTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: ToolDescriptor['input'] };
}

/** A tool for OpenAI's Responses API. `strict` is false: that mode takes no schema with optional fields. */
export interface OpenAiResponsesTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly parameters: ToolDescriptor['input'];
  readonly strict: false;
}

export type CatalogEntry = ToolDescriptor | McpTool | AnthropicTool | OpenAiTool | OpenAiResponsesTool;

/** Tools in the shape a caller asked for. Only `full` has facts and label: the others go to models as they are. */
export function formatCatalog(tools: readonly ToolDescriptor[], format: ToolFormat): CatalogEntry[] {
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
      return tools.map(({ name, description, input }) => ({ type: 'function', name, description, parameters: input, strict: false }));
    default:
      return format satisfies never;
  }
}

/** Whether a tool answers a search: every word occurs in its name, aliases, label or description. */
export function matchesSearch(tool: ToolDescriptor, query: string): boolean {
  const text = [tool.name, ...tool.aliases, tool.label, tool.description].join('\n').toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function toMcp({ name, label, description, input, output, annotations }: ToolDescriptor): McpTool {
  return { name, title: label, description, inputSchema: input, ...(output ? { outputSchema: output } : {}), annotations };
}
