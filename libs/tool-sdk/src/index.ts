// For authors of tools and sources.
export { Tool, type StructuredOutput, type ToolHandler, type ToolOptions } from './tool.decorator.js';
export type { AgentRun, Resumed, ToolContext, UpdateStreamInfo } from './tool-context.port.js';
export { defineTool } from './define-tool.js';
export { definePlugin, isPlugin, type Plugin, type PluginDefinition } from './plugin.js';
export { ToolError } from './tool-error.js';
export { Suspension, type SuspensionOptions, type ToolOutput, type ToolOutputObject } from './tool-output.js';
export type { DeniedPaths, SharedRoot, Workspace, WorkspaceQuota } from './workspace.port.js';
export type { ArgumentHints, TenantSources, ToolSource } from './tool-source.port.js';
export { describeTool, type ToolFacts } from './registry/tool-descriptor.js';

// For processes that list, validate and run tools.
export { BuiltinSource, type DecoratedTool } from './registry/builtin.source.js';
export { closestNames } from './validation/suggest.js';
export { compileForeignSchema } from './validation/schema-compiler.js';
export { InputForm } from './validation/input-form.js';
export { formatCatalog, matchesSearch } from './registry/catalog-formats.js';
export { ToolRegistry } from './registry/tool.registry.js';
export type { ToolView, ValidatedCall } from './registry/tool-view.js';
export { ToolMetadata, type AnyToolHandler } from './tool.decorator.js';
