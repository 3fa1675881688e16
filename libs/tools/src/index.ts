export * from './tool.port.js';
export { Tool, type InputSchema, type StructuredOutput, type ToolHandler, type ToolOptions } from './tool.decorator.js';
export { describeTool, type ToolFacts } from './tool-descriptor.js';
export { ToolRegistry, type Prepared, type PrepareFailure } from './tool.registry.js';
export { ToolsModule, type ToolsModuleOptions } from './tools.module.js';
export { Sandbox } from './sandbox/sandbox.port.js';
export { SandboxRegistry, type PoolSandbox } from './sandbox/sandbox.registry.js';
export { SANDBOX_ENV, sandboxConfig, sandboxContradictions, type SandboxConfig } from './sandbox/sandbox.config.js';
export { formatCatalog, matchesSearch, type CatalogEntry } from './catalog-formats.js';
