import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { publishedSchemas } from './schemas.js';

const folder = fileURLToPath(new URL('../schemas', import.meta.url));

describe('the generated JSON Schemas', () => {
  it('matches the generated JSON Schemas to the zod schemas (npm run generate renews them)', () => {
    const onDisk = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
    expect(onDisk).toEqual(publishedSchemas());
  });

  it.each([...publishedSchemas().keys()])('compiles %s as JSON Schema 2020-12', (name) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    expect(() => ajv.compile(JSON.parse(publishedSchemas().get(name) ?? ''))).not.toThrow();
  });

  it('parses a Call with a new field by an older schema', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validate = ajv.compile(JSON.parse(publishedSchemas().get('result.json') ?? ''));
    expect(validate({ content: [], isError: false, somethingNew: 1 })).toBe(true);
    expect(validate({ content: [] })).toBe(false);
  });
});
