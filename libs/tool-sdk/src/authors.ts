// Exports for authors of tools: the package @toolyard/tool-sdk.
export { Tool, type StructuredOutput, type ToolHandler, type ToolOptions } from './tool.decorator.js';
export type { AgentRun, Resumed, ToolContext, UpdateStreamInfo } from './tool-context.port.js';
export type { EgressLimits } from './egress.port.js';
export { defineTool } from './define-tool.js';
export { definePlugin, isPlugin, type Plugin, type PluginDefinition } from './plugin.js';
export { ToolError } from './tool-error.js';
export { Suspension, type SuspensionOptions, type ToolOutput, type ToolOutputObject } from './tool-output.js';
export type { DeniedPaths, SharedRoot, Workspace, WorkspaceQuota } from './workspace.port.js';
