export { compileExpression, syntaxFault, type Expression } from './expression.js';
export { compileExpressions, quoted, type Expressions } from './expressions.js';
export { compileGlob, globFaults, globMatches, globOrFault, type Glob } from './glob.js';
export { PATTERN_LIMITS, PatternError, type PatternFault } from './pattern-limits.js';
