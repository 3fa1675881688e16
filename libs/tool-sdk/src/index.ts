export { BuiltinSource, type DecoratedTool } from './builtin.source.js';
export { type ModelTool, formatCatalog, matchesSearch } from './catalog-formats.js';
export { type ToolFacts, describeTool } from './tool-descriptor.js';
export { type AnyToolHandler, Tool, ToolMetadata, type ToolOptions } from './tool.decorator.js';
export {
  type DeniedPaths,
  type SharedRoot,
  Suspension,
  type ToolContext,
  ToolError,
  type ToolOutput,
  type ToolOutputObject,
  type ToolSource,
  type UpdateStreamInfo,
  type Workspace,
  type WorkspaceQuota,
} from './tool.port.js';
export { type ValidatedCall, ToolRegistry } from './tool.registry.js';
