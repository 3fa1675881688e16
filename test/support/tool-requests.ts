import { JSONSchemaFaker } from 'json-schema-faker';
import type { ToolDescriptor } from '#contracts';
import type { TestGateway } from './gateway.js';
import type { ValidatingMock } from './validating-mock.js';

/** Arguments are the same for the same seed. */
export function seedArguments(seed: number): void {
  JSONSchemaFaker.option({
    alwaysFakeOptionals: true,
    random: randomOf(seed),
    maxItems: 3,
    fillProperties: false,
    failOnInvalidFormat: false,
  });
}

/** Calls each tool with arguments that fit its schema. What is wrong with the requests that the mock sees, if anything. */
export async function requestFaults(
  tools: readonly ToolDescriptor[],
  { agent }: TestGateway,
  { requests }: ValidatingMock,
): Promise<object[]> {
  const faults: object[] = [];
  for (const tool of tools) {
    const before = requests.length;
    const args: unknown = JSONSchemaFaker.generate(generated(tool.input) as object);
    const { outcome, error, result } = await agent.run(tool.name, args);
    const [request, ...more] = requests.slice(before);
    const isValid = request?.violations.length === 0 && more.length === 0 && outcome === 'completed';
    if (!isValid) faults.push({ tool: tool.name, args, outcome, error, result, request });
  }
  return faults;
}

/**
 * Converts schema parts that the generator misreads: lists of types, branches, formats of numbers, times with lengths,
 * addresses, Base64, exclusive limits, required members without a schema.
 */
function generated(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(generated);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, it]): [string, unknown] => [key, generated(it)]);
  const all: Record<string, unknown> = withOneBranch(Object.fromEntries(entries));
  const { type, format, pattern, required, properties, exclusiveMinimum } = all;
  const own: unknown = Array.isArray(type) ? type.find((it) => it !== 'null') : type;
  if (own !== undefined) all['type'] = own === 'number' && /^int\d+$/.test(String(format)) ? 'integer' : own;
  if (typeof exclusiveMinimum === 'number') all['minimum'] = exclusiveMinimum + 1;
  if (format === 'url' || format === 'uri') return { type: 'string', enum: ['https://example.com/a'] };
  if (format === 'byte' || pattern === '^[A-Za-z0-9+/]*={0,2}$') return { type: 'string', enum: ['aGk='] };
  if (format === 'date-time') return { type: 'string', enum: ['2026-01-02T03:04:05Z'] };
  if (Array.isArray(required) && typeof properties === 'object')
    all['properties'] = { ...Object.fromEntries(required.map((name: string) => [name, { type: 'string' }])), ...properties };
  return all;
}

/**
 * The generator mixes the branches of a schema. Takes one: a text before others, since a number in a path is a text too and
 * fits both, and null last, since the mock rejects it beside a reference.
 */
function withOneBranch(schema: Record<string, unknown>): Record<string, unknown> {
  const { oneOf, anyOf, ...more } = schema;
  const branches = [oneOf, anyOf].filter((it) => Array.isArray(it)).map((them: unknown[]) => them.find(isText) ?? them.find(isNotNull));
  const taken = branches.filter((it) => typeof it === 'object' && it !== null);
  return taken.reduce<Record<string, unknown>>(
    (all, branch) => {
      const [had, has] = [all, branch as Record<string, unknown>];
      const required = [had['required'], has['required']].flatMap((it) => (Array.isArray(it) ? it : []));
      const properties = { ...Object(had['properties']), ...Object(has['properties']) };
      return {
        ...had,
        ...has,
        ...(required.length > 0 && { required: [...new Set(required)] }),
        ...(Object.keys(properties).length > 0 && { properties }),
      };
    },
    branches.length === 0 ? schema : more,
  );
}

const isNotNull = (schema: unknown): boolean =>
  !(typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'null');
const isText = (schema: unknown): boolean => typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'string';

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}
