import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from './define-tool.js';
import { BuiltinSource, type DecoratedTool } from './registry/builtin.source.js';
import { compileSchema } from './validation/schema-compiler.js';

const listed = (tool: DecoratedTool) => new BuiltinSource(() => [tool]).list()[0];
const schemaOf = (input: z.ZodObject) =>
  listed(defineTool({ name: 'sample', description: 'A sample.', input, run: () => '' }))?.input ?? {};

describe('defineTool', () => {
  it('makes the declaration of a function from its name, description and parameters [RP-05, RP-08]', () => {
    const description = 'Reads a file.\nAt most 1 MB.';
    const tool = defineTool({ name: 'file_read', description, input: z.strictObject({ path: z.string() }), run: ({ path }) => path });
    expect(listed(tool)).toMatchObject({
      name: 'file_read',
      description: 'Reads a file.\nAt most 1 MB.',
      input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false },
    });
  });

  it('maps types of parameters, all required unless they are optional or have a default [CC-09, RP-06]', () => {
    const schema = schemaOf(
      z.strictObject({
        text: z.string().describe('A text'),
        kind: z.enum(['a', 'b']).describe('Which'),
        count: z.int(),
        flag: z.boolean(),
        ratio: z.number().min(0).max(1),
        names: z.array(z.string().min(1)),
        where: z.strictObject({ line: z.int() }),
        note: z.string().optional(),
      }),
    );
    expect(schema).toMatchObject({
      properties: {
        text: { type: 'string', description: 'A text' },
        kind: { type: 'string', enum: ['a', 'b'], description: 'Which' },
        count: { type: 'integer' },
        flag: { type: 'boolean' },
        ratio: { type: 'number', minimum: 0, maximum: 1 },
        names: { type: 'array', items: { type: 'string', minLength: 1 } },
        where: { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] },
      },
      required: ['text', 'kind', 'count', 'flag', 'ratio', 'names', 'where'],
    });
    const fine = { text: 'a', kind: 'a', count: 1, flag: true, ratio: 0.5, names: ['a'], where: { line: 1 } };
    const check = compileSchema(schema);
    expect(check({ ...fine })).toEqual([]);
    expect(check({ ...fine, kind: 'c' })).toEqual([{ pointer: '/kind', message: 'expected one of "a", "b", got string "c"' }]);
  });

  const anyTool = { name: 'sample', description: 'A sample.', input: z.strictObject({}) };
  const wrongTools: [string, object, string][] = [
    ['no run', {}, 'expected `run` to be a function, got undefined'],
    ['a generator', { run: function* run() {} }, '`run` is a generator: return the result, and send pieces with `ctx.onUpdate`'],
    ['no schema', { run: () => '', input: { path: 'string' } }, '`input` is no schema of zod: use z.strictObject({...})'],
    ['a type that JSON has not', { run: () => '', input: z.strictObject({ at: z.date() }) }, '/at: JSON has no dates'],
  ];
  it.each(wrongTools)('refuses a tool with %s at its registration, with the fix [RP-07]', (_what, wrong, message) => {
    // Plugins in JavaScript have no compiler that would refuse it.
    const tool: DecoratedTool = Reflect.apply(defineTool, undefined, [{ ...anyTool, ...wrong }]);
    expect(() => listed(tool)).toThrow(`Tool "sample" cannot be registered: ${message}`);
  });
});
