export { BuiltinSource, type DecoratedTool } from './builtin.source.js';
export { type ModelTool, formatCatalog, matchesSearch } from './catalog-formats.js';
export { type ToolFacts, describeTool } from './tool-descriptor.js';
export { type AnyToolHandler, Tool, ToolMetadata, type ToolOptions } from './tool.decorator.js';
export {
  type DeniedPaths,
  type SharedRoot,
  Suspension,
  type ToolContext,
  ToolError as ToolFailure,
  type ToolOutput,
  type ToolOutputObject,
  type ToolSource,
  type UpdateOf,
  type Workspace,
  type WorkspaceQuota,
} from './tool.port.js';
export { type ValidatedCall as Prepared, ToolRegistry } from './tool.registry.js';
