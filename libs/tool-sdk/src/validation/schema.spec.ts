import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { JsonSchema } from '#contracts';
import { toInputSchema } from './input-schema.js';
import { linearRegExp } from './linear-regexp.js';
import { compileForeignSchema, compileSchema } from './schema-compiler.js';

const messages = (schema: z.ZodType, value: unknown): string[] =>
  compileSchema(toInputSchema(schema))(value).map(({ pointer, message }) => `${pointer}: ${message}`);

describe('toInputSchema', () => {
  it('returns the input side of a schema: a field with a default is not required [CC-04]', () => {
    const schema = toInputSchema(z.strictObject({ path: z.string(), limit: z.number().int().default(5) }));
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['path'],
      additionalProperties: false,
      properties: { limit: { type: 'integer', default: 5 } },
    });
  });

  it.each([
    ['refine', z.string().refine((text) => text.length > 1)],
    ['superRefine', z.string().superRefine(() => undefined)],
    ['transform', z.string().transform((text) => text.length)],
    ['pipe', z.string().pipe(z.string())],
    ['preprocess', z.preprocess(String, z.string())],
    ['trim', z.string().trim()],
    ['coerce', z.coerce.number()],
    ['date', z.date()],
    ['bigint', z.bigint()],
    ['set', z.set(z.string())],
    ['map', z.map(z.string(), z.string())],
    ['custom', z.custom<string>(() => true)],
    ['catch', z.string().catch('x')],
    ['flags', z.string().regex(/a/i)],
    ['strip', z.object({ a: z.string() })],
  ])('refuses %s in a schema, wherever it is, and names the place', (_name, lossy) => {
    const nested = z.strictObject({ deep: z.strictObject({ list: z.array(lossy) }).optional() });
    expect(() => toInputSchema(nested)).toThrow(/\/deep\/list/);
  });

  it('lists all losses of a schema in one message', () => {
    const schema = z.strictObject({ a: z.string().trim(), b: z.date() });
    expect(() => toInputSchema(schema)).toThrow(/^(?=.*\/a: )(?=.*\/b: )/);
  });
});

describe('compileSchema', () => {
  it('describes the length of a value in plain words', () => {
    const schema = z.strictObject({
      name: z.string().min(1),
      code: z.string().min(3).max(4),
      one: z.array(z.string()).min(1),
      few: z.array(z.string()).max(1),
    });
    expect(messages(schema, { name: '', code: 'ab', one: [], few: ['a', 'b'] })).toEqual([
      '/name: must not be empty, got string ""',
      '/code: must have at least 3 characters, got string "ab"',
      '/one: must not be empty, got an array of 0',
      '/few: must have at most 1 item, got an array of 2',
    ]);
    expect(messages(schema, { name: 'a', code: 'abcde', one: ['a'], few: [] })).toEqual([
      '/code: must have at most 4 characters, got string "abcde"',
    ]);
  });

  it('lists every violation of a schema with its place, the expected and the received value [VA-04]', () => {
    const schema = z.strictObject({
      path: z.string(),
      mode: z.enum(['a', 'b']),
      limit: z.number().int().min(1),
      depth: z.number().int().optional(),
    });
    expect(messages(schema, { limit: 0, mode: 'c', dept: 3 })).toEqual([
      "/path: missing 'path' parameter: expected string",
      "/dept: unknown parameter 'dept'; did you mean 'depth'?",
      '/mode: expected one of "a", "b", got string "c"',
      '/limit: must be >= 1, got number 0',
    ]);
    expect(messages(schema, { path: 1, mode: 'a', limit: '5' })).toEqual([
      '/path: expected string, got number 1',
      '/limit: expected integer, got string "5"',
    ]);
    expect(messages(schema, [])).toEqual([': expected object, got an array of 0']);
  });

  it('reports only the branch of a union that the discriminating constant chose', () => {
    const schema = z.strictObject({
      op: z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('line'), path: z.string() }),
        z.strictObject({ type: z.literal('dir'), depth: z.number() }),
      ]),
    });
    expect(messages(schema, { op: { type: 'dir', depth: 'x' } })).toEqual(['/op/depth: expected number, got string "x"']);
    expect(messages(schema, { op: { type: 'nope' } })).toHaveLength(1);
  });

  it('lists the first faults of many, and how many are left', () => {
    const branch = (kind: string) => z.strictObject({ kind: z.literal(kind), size: z.number() });
    const found = messages(z.strictObject({ items: z.array(z.union([branch('a'), branch('b')])) }), {
      items: Array.from({ length: 3_000 }, () => ({})),
    });
    expect(found.length).toBeLessThan(502);
    expect(found.at(-1)).toMatch(/^: \d+ more faults, which are not listed$/);
  });

  it('suggests names for the first unknown members, and compares no others', () => {
    const unknown = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`depht${n}`, n]));
    const found = messages(z.strictObject({ depth: z.number() }), { depth: 1, ...unknown });
    expect(found[0]).toBe("/depht0: unknown parameter 'depht0'; did you mean 'depth'?");
    expect(found.filter((text) => text.includes('depth')).length).toBe(20);
    expect(found.at(-1)).toBe("/depht299: unknown parameter 'depht299'");
  });

  it('looks no further than the first fault of a large value', () => {
    let looks = 0;
    const items = new Proxy<number[]>(Array(100_000).fill(1), {
      get: (target, name) => {
        looks += 1;
        return Reflect.get(target, name) as unknown;
      },
    });
    const found = messages(z.strictObject({ items: z.array(z.string()) }), { items });
    expect([looks < 100, ...found]).toEqual([
      true,
      '/items/0: expected string, got number 1',
      ': further faults of a value this large are not looked for',
    ]);
    expect(messages(z.strictObject({ items: z.array(z.number()) }), { items: Array(100_000).fill(1) })).toEqual([]);
  });

  it.each([
    [19.99, 0.01, true],
    [-1.1, 0.1, true],
    [1e-7, 1e-9, true],
    [4.35, 0.05, true],
    [1e300, 1e-300, true],
    [9_007_199_254_740_991, 2, false],
    [19.995, 0.01, false],
    [0.3, 0.2, false],
    [1, 3, false],
  ])('compares multiples by their digits: %p of %p is %p', (value, multipleOf, isValid) => {
    const faults = [compileSchema({ multipleOf })(value), compileForeignSchema({ multipleOf })(value)];
    const said = [{ pointer: '', message: expect.stringContaining(`must be multiple of ${multipleOf}`) }];
    expect(faults).toEqual(isValid ? [[], []] : [said, said]);
  });

  it('fills in defaults of a schema without coercion [VA-11]', () => {
    const check = compileSchema(toInputSchema(z.strictObject({ limit: z.number().default(5), on: z.boolean().optional() })));
    const value = {};
    expect(check(value)).toEqual([]);
    expect(value).toEqual({ limit: 5 });
    expect(check({ on: 'true' })).toHaveLength(1);
  });

  it('reads a schema of draft-07 by its $schema and refuses other drafts, unknown keywords and wrong schemas [CC-04, VA-15]', () => {
    const check = compileSchema({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { pair: { type: 'array', items: [{ type: 'string' }] } },
    });
    expect(check({ pair: [1] })).toHaveLength(1);
    expect(() => compileSchema({ $schema: 'http://json-schema.org/draft-04/schema#' })).toThrow(/draft-04/);
    expect(() => compileSchema({ type: 'objekt' })).toThrow(/type/);
    expect(() => compileSchema({ type: 'object', propertees: {} })).toThrow(/propertees/);
  });

  it('accepts two schemas with the same $id', () => {
    const schema = { $id: 'https://example.com/same', type: 'object' };
    expect(compileSchema({ ...schema })({})).toEqual([]);
    expect(compileSchema({ ...schema, required: ['a'] })({})).toHaveLength(1);
  });

  it('separates the patterns of different schemas', () => {
    const check = compileSchema({
      type: 'object',
      properties: { a: { type: 'string', pattern: '^x$' }, b: { type: 'string', pattern: '^y$' } },
    });
    expect(check({ a: 'x', b: 'y' })).toEqual([]);
    expect(check({ a: 'y', b: 'x' })).toHaveLength(2);
  });

  it('matches a pattern that makes a backtracking engine explode in linear time', () => {
    const check = compileSchema({ type: 'object', properties: { a: { type: 'string', pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' } } });
    const started = performance.now();
    expect(check({ a: 'a'.repeat(20_000) })).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it('refuses a pattern that cannot be matched in linear time', () => {
    expect(() => compileSchema({ type: 'object', properties: { a: { type: 'string', pattern: '(a)\\1' } } })).toThrow(/invalid/);
    expect(() => linearRegExp('(?=a)')).toThrow(/invalid/);
    expect(linearRegExp('^\\d{2}/x$').test('12/x')).toBe(true);
  });
});

describe('compileForeignSchema', () => {
  /** Each level looks twice at the next one. */
  const doubling = (levels: number, last: JsonSchema): JsonSchema => ({
    type: 'object',
    $defs: Object.fromEntries(
      Array.from({ length: levels + 1 }, (_, level) => {
        const next = { $ref: `#/$defs/l${level + 1}` };
        return [`l${level}`, level === levels ? last : { allOf: [next, next] }];
      }),
    ),
    $ref: '#/$defs/l0',
  });

  it('refuses every value of a schema whose check would not end', () => {
    for (const required of [[], ['a', 'b']]) {
      const check = compileForeignSchema(doubling(60, { type: 'object', required }));
      expect(check({})).toMatchObject([{ pointer: '', message: expect.stringContaining('takes too long') }]);
      expect(check({ a: 1, b: 2 })).toMatchObject([{ message: expect.stringContaining('takes too long') }]);
    }
    expect(compileForeignSchema(doubling(3, { required: ['a'] }))({ a: 1 })).toEqual([]);
  });

  it('tries a check that was cut off again after a pause that doubles', () => {
    let clock = 0;
    const { $defs, ...slow } = doubling(60, { type: 'object' });
    const check = compileForeignSchema({ $defs, type: 'object', if: { required: ['quick'] }, else: slow } as JsonSchema, {
      now: () => clock,
    });
    const cut = [{ message: expect.stringContaining('takes too long') }];
    expect(check({ quick: 1 })).toEqual([]);
    expect(check({})).toMatchObject(cut);
    clock = 9_999;
    expect(check({ quick: 1 })).toMatchObject(cut);
    clock = 10_000;
    expect(check({})).toMatchObject(cut);
    clock = 29_999;
    expect(check({ quick: 1 })).toMatchObject(cut);
    clock = 30_000;
    expect(check({ quick: 1 })).toEqual([]);
  });

  it('checks the formats of texts, unless the other side does', () => {
    const schema = { type: 'string', format: 'date-time' };
    const [text, said] = ['2026-11-30 10:00', expect.stringContaining('the format date-time')];
    expect(compileForeignSchema(schema)(text)).toMatchObject([{ message: said }]);
    expect(compileForeignSchema(schema, { validateFormats: false })(text)).toEqual([]);
    expect(compileForeignSchema(schema)(text)).toMatchObject([{ message: said }]);
  });

  it('leaves values of a schema that cannot be compiled to the other side, and checks other schemas after it', () => {
    expect(compileForeignSchema({ type: 'objekt' })({})).toEqual([]);
    expect(compileForeignSchema({ type: 'object', required: ['a'] })({})).toMatchObject([{ pointer: '/a' }]);
  });
});
