export * from './tool.port.js';
export { Tool, type InputSchema, type StructuredOutput, type ToolHandler, type ToolOptions } from './tool.decorator.js';
