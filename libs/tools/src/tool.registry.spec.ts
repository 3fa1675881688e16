import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { z } from 'zod';
import type { ToolDescriptor } from '#contracts';
import { Tool, type ToolFacts, type ToolOptions, ToolRegistry, type ToolSource, describeTool } from '#tool-sdk';
import { ToolsModule, type ToolsModuleOptions } from './tools.module.js';

const facts = (name: string, more: Partial<ToolFacts> = {}): ToolFacts => ({
  name,
  description: `Does ${name}.`,
  source: 'fake',
  input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false },
  ...more,
});

/** A source whose tools a test can exchange. */
class FakeSource implements ToolSource {
  private listener: () => void = () => undefined;
  closed = false;
  constructor(
    readonly name: string,
    public tools: readonly ToolDescriptor[],
  ) {}
  list(): readonly ToolDescriptor[] {
    return this.tools;
  }
  call(): Promise<string> {
    return Promise.resolve('done');
  }
  onChange(listener: () => void): () => void {
    this.listener = listener;
    return () => (this.listener = () => undefined);
  }
  change(tools: readonly ToolDescriptor[]): void {
    this.tools = tools;
    this.listener();
  }
  async close(): Promise<void> {
    this.closed = true;
  }
}

const registryOf = (...tools: ToolFacts[]): ToolRegistry => {
  const registry = new ToolRegistry(new FakeSource('fake', tools.map(describeTool)));
  registry.onModuleInit();
  return registry;
};

async function boot(options: ToolsModuleOptions = {}): Promise<ToolRegistry> {
  const app = await Test.createTestingModule({ imports: [ToolsModule.forRoot(options)] }).compile();
  await app.init();
  return app.get(ToolRegistry);
}

const decorated = (options: Partial<ToolOptions>): new () => object => {
  const all: ToolOptions = { name: 'sample', description: 'A sample.', input: z.strictObject({}), ...options };
  @Tool(all)
  class SampleTool {
    run(): string {
      return '';
    }
  }
  return SampleTool;
};

describe('ToolRegistry', () => {
  it('completes the facts of a tool from each other, to the careful side [CC-02, CC-12]', () => {
    const registry = registryOf(
      facts('nothing_said'),
      facts('reads', { tier: 'read_only' }),
      facts('writes', { tier: 'side_effecting', effect: 'idempotent' }),
    );
    expect(registry.resolve('nothing_said')).toMatchObject({
      tier: 'privileged',
      effect: 'once',
      pool: 'shell',
      label: 'nothing_said',
      retry: { maxAttempts: 1 },
    });
    expect(registry.resolve('reads')).toMatchObject({
      tier: 'read_only',
      effect: 'pure',
      pool: 'read',
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    });
    expect(registry.resolve('writes')).toMatchObject({
      effect: 'idempotent',
      pool: 'write',
      annotations: { readOnlyHint: false, idempotentHint: true },
    });
  });

  it('computes the same version for the same tool, and another one when schema or facts change', () => {
    const version = (more: Partial<ToolFacts>): string => describeTool(facts('a', more)).version;
    expect(version({})).toMatch(/^[0-9a-f]{16}$/);
    expect(version({ description: 'Other words.' })).toBe(version({}));
    expect(version({ tier: 'read_only' })).not.toBe(version({}));
    expect(version({ input: { type: 'object' } })).not.toBe(version({}));
  });

  it('lists tools by name and resolves every alias to its one tool [RP-12, RP-17]', () => {
    const registry = registryOf(facts('zeta', { aliases: ['z_one', 'zTwo'] }), facts('alpha'));
    expect(registry.list().map(({ name }) => name)).toEqual(['alpha', 'zeta']);
    for (const name of ['zeta', 'z_one', 'zTwo']) expect(registry.resolve(name)?.name).toBe('zeta');
    expect(registry.source('z_one').name).toBe('fake');
  });

  it('answers an unknown tool with the nearest names [CC-41]', () => {
    const registry = registryOf(facts('file_read', { aliases: ['read_file'] }), facts('file_write'), facts('shell'));
    expect(registry.validateArguments('fileread', {})).toEqual({
      ok: false,
      failure: { code: 'not_found', message: 'Tool not found: fileread\nDid you mean: file_read?', errors: [] },
    });
    expect(registry.suggest('shel')).toEqual(['shell']);
    expect(registry.validateArguments('nope', {})).toMatchObject({ failure: { message: 'Tool not found: nope' } });
    expect(registry.validateArguments('__proto__', {})).toMatchObject({ failure: { code: 'not_found' } });
  });

  it('prepares arguments by the schema of the tool [CC-42]', () => {
    const registry = registryOf(facts('file_read'));
    expect(registry.validateArguments('file_read', '{"path":"a"}')).toMatchObject({
      ok: true,
      args: { path: 'a' },
      tool: { name: 'file_read' },
    });
    expect(registry.validateArguments('file_read', {})).toMatchObject({
      ok: false,
      tool: { name: 'file_read' },
      failure: {
        code: 'invalid_arguments',
        message: "Invalid arguments: missing 'path' parameter: expected string",
        errors: [{ pointer: '/path' }],
      },
    });
  });

  it('refuses a source with faulty tools in one message with all fixes [CC-01, CC-03, RP-12, VA-15]', () => {
    const broken = (): ToolRegistry =>
      registryOf(
        facts('1bad name'),
        facts('b', { description: ' ' }),
        facts('c', { input: { type: 'string' } }),
        facts('d', { input: { type: 'objekt' } }),
        facts('e', { aliases: ['b'] }),
        facts('b'),
      );
    expect(broken).toThrow(
      /"1bad name" is no tool name[^]*description is empty[^]*not an object schema[^]*"d".*schema cannot be checked[^]*"b" belongs to tool "b"[^]*rename/,
    );
  });

  it('refuses a second source with a used name or tool', () => {
    const registry = registryOf(facts('a'));
    expect(() => registry.add(new FakeSource('fake', []))).toThrow(/Source "fake" is registered already/);
    expect(() => registry.add(new FakeSource('other', [describeTool(facts('b', { aliases: ['a'] }))]))).toThrow(
      /"a" belongs to tool "a" of source "fake"/,
    );
    expect(registry.list()).toHaveLength(1);
  });

  it('follows a changing source, and keeps its former tools after a wrong change', async () => {
    const registry = registryOf(facts('a'));
    const source = new FakeSource('other', [describeTool(facts('b'))]);
    registry.add(source);
    source.change([describeTool(facts('c'))]);
    expect(registry.list().map(({ name }) => name)).toEqual(['a', 'c']);
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    source.change([describeTool(facts('a'))]);
    expect(registry.list().map(({ name }) => name)).toEqual(['a', 'c']);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
    await registry.onApplicationShutdown();
    expect(source.closed).toBe(true);
  });

  it('accepts a description that is too long for models, with a warning [CC-03]', () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    expect(registryOf(facts('a', { description: 'x'.repeat(11_000) })).list()).toHaveLength(1);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });
});

describe('ToolsModule', () => {
  it('finds every tool file of the built-in folder and further classes [RP-01]', async () => {
    const registry = await boot({ tools: [decorated({ name: 'extra' })] });
    const names = registry.list().map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(['echo', 'extra']));
    expect(registry.resolve('extra')).toMatchObject({ source: 'builtin', tier: 'privileged', effect: 'once' });
  });

  it('checks the arguments and the results of every tool of the built-in folder', async () => {
    const registry = await boot();
    const check = (name: string) => [registry.validateArguments(name, { surprise: 1 }), registry.checkOutput(name, {})];
    for (const { name } of registry.list()) expect(() => check(name)).not.toThrow();
  });

  it.each([
    ['a double name', [decorated({ name: 'twice' }), decorated({ name: 'twice' })], /"twice" belongs to tool "twice".*rename/],
    ['a double alias', [decorated({ name: 'one' }), decorated({ name: 'two', aliases: ['one'] })], /"one" belongs to tool/],
    ['an invalid name', [decorated({ name: '1bad name' })], /"1bad name" is no tool name: use a letter/],
    ['a missing description', [decorated({ description: '' })], /description is empty: write/],
    [
      'a lossy schema',
      [decorated({ input: z.strictObject({ at: z.date() }) })],
      /Tool "sample" cannot be registered: \/at: JSON has no dates: use/,
    ],
    ['an open object', [decorated({ input: z.object({}) })], /use z.strictObject/],
    ['a pattern without linear time', [decorated({ input: z.strictObject({ a: z.string().regex(/(?=a)/) }) })], /schema cannot be checked/],
  ])('stops the boot on %s and says the fix', async (_name, tools, message) => {
    await expect(boot({ tools })).rejects.toThrow(message);
  });
});
