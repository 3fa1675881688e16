export * from './tool.port.js';
export { Tool, type InputSchema, type StructuredOutput, type ToolHandler, type ToolOptions } from './tool.decorator.js';
export { describeTool, type ToolFacts } from './tool-descriptor.js';
export { ToolRegistry, type Prepared, type PrepareFailure } from './tool.registry.js';
export { ToolsModule, type ToolsModuleOptions } from './tools.module.js';
export { formatCatalog, matchesSearch, type CatalogEntry } from './catalog-formats.js';
