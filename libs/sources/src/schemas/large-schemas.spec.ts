import { describe, expect, it } from '@jest/globals';
import { acceptOffer } from '../catalog/offered-tool.js';
import { checkableSchema } from './checkable-schema.js';
import { comparisonBudget } from './distinct-branches.js';

const MANY = 400_000;
const many = <T>(count: number, part: (index: number) => T) => Array.from({ length: count }, (_, index) => part(index));
const read = (schema: object) => checkableSchema({ type: 'object', ...schema });
const nothing = () => 0;

describe('large schemas that others wrote', () => {
  /** Each would take minutes if a part took longer the more others there are. */
  it.each([
    ['parts', () => ({ allOf: many(2 * MANY, () => ({})) }), nothing],
    ['names that cannot be read', () => ({ patternProperties: Object.fromEntries(many(MANY, (at) => [`/^${at}$/`, {}])) }), () => MANY],
    ['parts of the same name', () => ({ allOf: many(MANY, () => ({ $anchor: 'n' })) }), nothing],
    ['values beside a check that cannot be read', () => ({ enum: many(MANY, (at) => at), pattern: '(?=' }), () => 1],
    [
      'loops of references in one of its parts',
      () => ({
        properties: { a: { $ref: '#/$defs/u/allOf/100000' } },
        $defs: { u: { allOf: [...many(100_000, () => ({})), { allOf: many(10_000, () => ({ $ref: '#/$defs/u' })) }] } },
      }),
      () => 10_000,
    ],
    ['faults behind a long name', () => ({ properties: { ['n'.repeat(200_000)]: { allOf: many(100_000, () => 7) } } }), () => 100_000],
  ])('reads a schema of very many %s', (_what, schema, faults) => expect(read(schema()).left).toHaveLength(faults()));

  it('expands no schema to many times its size, for any references', () => {
    const properties = Object.fromEntries(many(1_000, (at) => [at, { $ref: '#n' }]));
    const schema = { properties, $defs: { ['n'.repeat(10_000)]: { $anchor: 'n' } } };
    expect(JSON.stringify(read(schema).schema).length).toBeLessThan(JSON.stringify(schema).length * 2);
  });

  it('reads references over any number of others, and cuts a loop of them once', () => {
    const chain = Object.fromEntries(many(100, (at) => [at, { $ref: `#/$defs/${at + 1}` }]));
    expect(read({ properties: { a: { $ref: '#/$defs/0' } }, $defs: { ...chain, 100: {} } }).left).toEqual([]);
    const loop = { properties: { a: { $ref: '#/$defs/0' } }, $defs: { ...chain, 100: { $ref: '#/$defs/0' } } };
    expect(read(loop).left).toEqual([expect.stringContaining('/$ref cannot be read')]);
  });

  it('compares a bounded number of members of the branches of all schemas of a source', () => {
    const comparisons = comparisonBudget();
    const large = Object.fromEntries(many(5_000, (at) => [at, {}]));
    const oneOf = many(40, () => ({ allOf: many(1_000, () => ({ $ref: '#/$defs/large' })) }));
    const left = (schema: object) => checkableSchema({ type: 'object', ...schema }, { comparisons }).left;
    const said = [expect.stringContaining('branches of oneOf that overlap')];
    expect(left({ properties: { a: { oneOf } }, $defs: { large: { properties: large } } })).toEqual(said);
    expect(left({ oneOf: [{ type: 'string' }, { type: 'number' }] })).toEqual(said);
  });

  it('offers a tool with any number of parts that its source omitted', () => {
    const tool = { rawName: 't', input: { type: 'object' }, problems: many(MANY, () => 'left out') } as const;
    const { tools, problems } = acceptOffer([tool], { name: 'x', kind: 'openapi', trust: false });
    expect([tools.length, problems.length, problems[0]]).toEqual([1, 50, 't: left out']);
  });

  it('omits a tool with too large schemas without inspecting them', () => {
    const input = { type: 'text', title: 'x'.repeat(262_144) } as const;
    const { problems } = acceptOffer([{ rawName: 't', input }], { name: 'x', kind: 'mcp', trust: false });
    expect(problems).toEqual(['"t": it is larger than 262144 bytes']);
  });
});
