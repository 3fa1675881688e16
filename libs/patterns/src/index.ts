export { compileExpression, syntaxFault, type Expression } from './expression.js';
export { compileExpressions, quoteExpression } from './expressions.js';
export { globFaults, globMatches, globOrFault, type Glob } from './glob.js';
export { cleanText, ESCAPE_SEQUENCE, HIDDEN_TEXT, SUSPECT_TEXT } from './hidden-text.js';
export { PATTERN_LIMITS, PatternError, type PatternFault } from './pattern-limits.js';
export { isInList, isNarrowerList, listOfAny, listOfBoth, negationsIn } from './pattern-list.js';
