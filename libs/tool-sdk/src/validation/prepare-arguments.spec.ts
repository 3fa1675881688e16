import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { argumentShape } from './argument-shape.js';
import { toInputSchema } from './input-schema.js';
import { prepareArguments, type PreparedArguments } from './prepare-arguments.js';
import { compileSchema } from './schema-compiler.js';

const schema = toInputSchema(
  z.strictObject({
    command: z.string().min(1),
    limit: z.number().int().default(5),
    note: z.string().nullable().optional(),
    dir: z.string().optional(),
  }),
);
const shape = argumentShape(schema, { aliases: { command: ['cmd', 'script'] }, rawArgument: 'command' });
const prepare = (raw: unknown): PreparedArguments => prepareArguments(raw, shape, compileSchema(schema));
const argsOf = (raw: unknown): unknown => {
  const prepared = prepare(raw);
  return prepared.ok ? prepared.args : prepared.message;
};

describe('prepareArguments', () => {
  it('prepares the same arguments for an object and for its JSON text, with defaults filled [CC-16, VA-11]', () => {
    expect(argsOf({ command: 'ls' })).toEqual({ command: 'ls', limit: 5 });
    expect(argsOf('{"command":"ls"}')).toEqual({ command: 'ls', limit: 5 });
  });

  it('changes no given arguments in place', () => {
    const raw = { cmd: 'ls', dir: null, __tool_use_purpose: 'look' };
    const before = structuredClone(raw);
    expect(prepare(raw).ok).toBe(true);
    expect(raw).toEqual(before);
  });

  it('refuses arguments without a canonical form, with the place', () => {
    for (const [raw, pointer] of [
      ['{"command":"\\ud83d"}', '/command'],
      ['{"command":"ls","\\ud83d":1}', '/\ufffd'],
    ] as const) {
      expect(prepare(raw)).toMatchObject({
        ok: false,
        errors: [{ pointer, message: expect.stringContaining('half of a character') }],
      });
    }
  });

  it('keeps the digits of a number beyond a double for a text argument, and refuses it for a number', () => {
    for (const digits of ['1e999', '725653563933458433', '0.1234567890123456789']) {
      expect(prepare(`{"command":"ls","note":${digits}}`)).toMatchObject({ ok: true, args: { note: digits } });
      expect(prepare(`{"command":"ls","limit":${digits}}`)).toMatchObject({
        ok: false,
        errors: [{ pointer: '/limit', message: expect.stringMatching(`${digits}.*integers beyond 9007199254740991`) }],
      });
    }
  });

  it('accepts a choice in any case, unless choices differ only by case', () => {
    const schemaOfChoices = toInputSchema(
      z.strictObject({ method: z.enum(['GET', 'POST']).default('GET'), unit: z.enum(['M', 'm']).optional(), text: z.string().optional() }),
    );
    const choose = (raw: object) => {
      const prepared = prepareArguments(raw, argumentShape(schemaOfChoices), compileSchema(schemaOfChoices));
      return prepared.ok ? prepared.args : prepared.message;
    };
    expect(choose({ method: 'post' })).toEqual({ method: 'POST' });
    expect(choose({ method: 'Get', unit: 'm', text: 'GET' })).toEqual({ method: 'GET', unit: 'm', text: 'GET' });
    expect(choose({ unit: 'M' })).toMatchObject({ unit: 'M' });
    expect(choose({ method: 'put' })).toBe('Invalid arguments: /method: expected one of "GET", "POST", got string "put"');
    expect(choose({ method: 'constructor' })).toMatch(/^Invalid arguments: \/method/);
  });

  it('separates the purpose from the arguments [CC-18]', () => {
    expect(prepare({ command: 'ls', __tool_use_purpose: 'look' })).toEqual({
      ok: true,
      args: { command: 'ls', limit: 5 },
      purpose: 'look',
    });
  });

  it('prefers the argument itself, then its first non-empty alias [TB-02, VA-12]', () => {
    expect(argsOf({ cmd: ' ', script: 'b' })).toEqual({ command: 'b', limit: 5 });
    expect(argsOf({ command: 'a', cmd: 'b' })).toEqual({ command: 'a', limit: 5 });
    expect(argsOf({ command: '', cmd: 'b' })).toEqual({ command: 'b', limit: 5 });
    expect(argsOf({ script: 'b', cmd: 'a' })).toEqual({ command: 'a', limit: 5 });
  });

  it('reads a bare text as the raw argument, but never broken JSON [TB-02, VA-02]', () => {
    expect(argsOf('ls -l')).toEqual({ command: 'ls -l', limit: 5 });
    expect(argsOf('"ls -l"')).toEqual({ command: 'ls -l', limit: 5 });
    expect(argsOf('[ -f x ] && ls')).toEqual({ command: '[ -f x ] && ls', limit: 5 });
    expect(argsOf('{"command":')).toMatch(/^Invalid arguments: the arguments are not valid JSON: .*JSON/);
  });

  it('parses arguments that were encoded as JSON text twice, and never as the raw argument', () => {
    expect(argsOf('"{\\"command\\":\\"ls\\"}"')).toEqual({ command: 'ls', limit: 5 });
    expect(argsOf('"{\\"command\\":"')).toMatch(/^Invalid arguments: the arguments are not valid JSON: /);
    expect(argsOf('```json\n{"command":"ls"}\n```')).toMatch(/^Invalid arguments: the arguments are not valid JSON: .*without the fence/);
    expect(argsOf('```\nls\n```')).toEqual({ command: '```\nls\n```', limit: 5 });
    expect(argsOf('"```json\\n{}\\n```"')).toMatch(/without the fence/);
    expect(argsOf('echo "```"')).toEqual({ command: 'echo "```"', limit: 5 });
  });

  it('refuses a JSON array as arguments, also for a tool with a raw argument', () => {
    for (const text of ['["ls"]', ' [] ', '[1, {"a": 2}]', '"[\\"ls\\"]"'])
      expect(argsOf(text)).toMatch(/^Invalid arguments: Arguments must be an object, instead found an array of \d$/);
    for (const text of ['```json\n["ls"]\n```', '```\n[]\n```', '"```json\\n[1]\\n```"']) expect(argsOf(text)).toMatch(/without the fence/);
    for (const text of ['[ -f x ]', '["$HOME" = x ]', '[a-z]*', '```\n[ -f x ]\n```'])
      expect(argsOf(text)).toEqual({ command: text, limit: 5 });
  });

  it('reads an empty text as no arguments', () => {
    expect(argsOf('')).toBe("Invalid arguments: missing 'command' parameter: expected string");
  });

  it('treats null for an optional argument as absent, unless null is one of its values', () => {
    expect(argsOf({ command: 'ls', dir: null, limit: null, note: null })).toEqual({ command: 'ls', limit: 5, note: null });
    expect(argsOf({ command: null })).toContain('expected string, got null');
  });

  it('lists all violations of a schema, one a line [VA-04]', () => {
    expect(argsOf({ limit: 'x', zzz: 1 })).toBe(
      "Invalid arguments:\n- missing 'command' parameter: expected string\n- unknown parameter 'zzz'; known: command, limit, note, dir\n- /limit: expected integer, got string \"x\"",
    );
  });

  it.each([
    ['__proto__', '{"a":1}'],
    ['constructor', '{"prototype":{"a":1}}'],
  ])('refuses the key %s, which reaches every object by a merge, at any depth', (key, value) => {
    expect(argsOf(`{"command":"ls","${key}":${value}}`)).toContain(`the name '${key}' is not allowed`);
    expect(argsOf(`{"command":"ls","dir":[{"${key}":${value}}]}`)).toContain(`the name '${key}' is not allowed`);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it('refuses depth of arguments without overflowing the stack', () => {
    const deep = `{"command":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
    expect(argsOf(deep)).toContain('nested deeper than 64 levels');
  });

  it('refuses arguments that are no object', () => {
    const strict = (raw: unknown): PreparedArguments => prepareArguments(raw, argumentShape(schema), compileSchema(schema));
    expect(strict('[1]')).toMatchObject({
      ok: false,
      message: 'Invalid arguments: Arguments must be an object, instead found an array of 1',
    });
    expect(strict('7')).toMatchObject({ ok: false, message: 'Invalid arguments: Arguments must be an object, instead found number 7' });
  });

  it('prepares any arguments without throwing, and accepts its own output', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string(), fc.object(), fc.jsonValue()), (raw) => {
        const prepared = prepare(raw);
        if (prepared.ok) expect(prepare(prepared.args)).toEqual({ ok: true, args: prepared.args });
        else expect(prepared.errors.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
});
