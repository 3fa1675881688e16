import { compileExpression, type Expression } from '#patterns';

/**
 * A pattern of a schema for ajv, which keeps compiled patterns by their `toString()`. Time grows linearly with the text. @throws
 * PatternError on what is too large or cannot be matched so (look-around, back-references)
 */
export function linearRegExp(pattern: string): Expression {
  return compileExpression(pattern);
}

/** ajv asks for the source text of its engine, and needs it only for stand-alone code, which is not generated here. */
linearRegExp.code = 'linearRegExp';
