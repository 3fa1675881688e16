import type { z } from 'zod';
import type { DecoratedTool } from './registry/builtin.source.js';
import type { InputSchema, StructuredOutput, ToolHandler, ToolOptions } from './tool.decorator.js';
import type { ToolOutput } from './tool-output.js';

type Returned<O extends z.ZodType> = unknown extends z.output<O> ? ToolOutput : StructuredOutput<z.output<O>>;

/**
 * The function form of `Tool`, for tools without a class.
 *
 * @example
 * defineTool({
 *   name: 'word_count',
 *   description: 'Counts the words of a text.',
 *   input: z.strictObject({ text: z.string() }),
 *   run: ({ text }) => String(text.trim().split(/\s+/).length),
 * });
 */
export function defineTool<const I extends InputSchema, O extends z.ZodType = z.ZodType>({
  run,
  check,
  confirm,
  ...options
}: ToolOptions<I, O> & ToolHandler<z.output<I>, Returned<O>>): DecoratedTool {
  const handler = { run, ...(check === undefined ? {} : { check }), ...(confirm === undefined ? {} : { confirm }) };
  return { options, handler };
}
