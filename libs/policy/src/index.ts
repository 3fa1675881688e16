export type { CallFacts, ToolFacts } from './call-facts.js';
export { decide, type Rule } from './decide.js';
