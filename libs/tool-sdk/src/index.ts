export type { AnswerForm, CommandForm, FetchedFacts, FileForm } from './answer-form.js';
export * from './authors.js';

// Exports for authors of sources.
export { ExactNumber, exactJsonText, replaceNumberTexts, withExactNumbers } from './validation/exact-number.js';
export type { ArgumentHints, TenantSources, ToolSource } from './tool-source.port.js';
export { describeTool, type ToolFacts } from './registry/tool-descriptor.js';

// Exports for processes that list, validate and run tools.
export { BuiltinSource, type DecoratedTool } from './registry/builtin.source.js';
export { closestNames } from './validation/suggest.js';
export { compileForeignSchema } from './validation/schema-compiler.js';
export { InputForm } from './validation/input-form.js';
export { modelTool } from './model/model-tool.js';
export { formatCatalog, matchesSearch } from './registry/catalog-formats.js';
export { ToolRegistry } from './registry/tool.registry.js';
export type { ToolView, ValidatedCall } from './registry/tool-view.js';
export { toolOptionsOf, type AnyToolHandler } from './tool.decorator.js';
