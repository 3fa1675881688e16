import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { definePlugin, defineTool, isPlugin, Tool } from './index.js';

const input = z.strictObject({ name: z.string() });

@Tool({ name: 'shout', description: 'Greets loudly.', input })
class ShoutTool {
  run({ name }: z.output<typeof input>): string {
    return `${name.toUpperCase()}!`;
  }
}

describe('a plugin', () => {
  const greeter = definePlugin({
    name: 'greeter',
    config: z.strictObject({ greeting: z.string() }),
    tools: ({ greeting }) => [
      new ShoutTool(),
      defineTool({ name: 'greet', description: 'Greets.', input, run: ({ name }) => `${greeting}, ${name}` }),
    ],
  });

  it('makes the tools of a plugin of functions and of classes', async () => {
    expect([isPlugin(greeter), isPlugin({ name: 'greeter' }), isPlugin(undefined)]).toEqual([true, false, false]);
    const tools = await greeter.open({ greeting: 'Hello' });
    expect(tools.map(({ options }) => options.name)).toEqual(['shout', 'greet']);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the registry checks arguments before
    expect(tools.map(({ handler }) => handler.run({ name: 'Ada' } as never, {} as never))).toEqual(['ADA!', 'Hello, Ada']);
  });

  it('refuses wrong settings of a plugin, and an export that is no tool', async () => {
    await expect(greeter.open({ greeting: 5 })).rejects.toThrow(/^its config is wrong: .*greeting/);
    const odd = definePlugin({ name: 'odd', config: z.looseObject({}), tools: () => [{ run: () => '' }] });
    await expect(odd.open({})).rejects.toThrow('Object is no tool: expected defineTool({...})');
  });

  it.each([
    ['config', { name: 'plain', tools: () => [] }],
    ['tools', { name: 'plain', config: z.strictObject({}) }],
  ])('reports that a plugin written in JavaScript lacks %s', (missing, definition) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JavaScript has no types
    expect(() => definePlugin(definition as unknown as Parameters<typeof definePlugin>[0])).toThrow(`definePlugin needs ${missing}, a `);
  });
});
