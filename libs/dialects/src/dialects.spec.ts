import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import fc from 'fast-check';
import { ToolRegistry } from '#tool-sdk';
import { ToolsModule } from '#tools';
import { outdated } from '../generate.mjs';
import { AGENT_NAMES, allDialects, dialectOf } from './dialects.js';
import { argumentsOf } from './testing/arbitrary-arguments.js';
import { viewOf } from './views.js';

let app: TestingModule;
let registry: ToolRegistry;
beforeAll(async () => {
  app = await Test.createTestingModule({ imports: [ToolsModule.forRoot()] }).compile();
  await app.init();
  registry = app.get(ToolRegistry);
});
afterAll(() => app.close());

const tools = allDialects().flatMap(({ name, tools: all }) => all.map((tool) => [name, tool.name, tool] as const));

describe('each dialect', () => {
  it.each(tools)('maps in the dialect %s the name %s to a tool that exists', (_dialect, _name, { tool }) => {
    expect(registry.resolve(tool)?.name).toBe(tool);
  });

  it.each(tools)(
    'finds in the dialect %s the tool %s by each of its names in rules',
    (_dialect, name, { tool, means = [tool], aliases = [] }) => {
      for (const it of [name, ...aliases]) {
        expect(means).toContain(registry.resolve(it)?.name ?? means[0]);
        for (const meant of means)
          expect([registry.resolve(meant)?.name, AGENT_NAMES.of(meant)]).toEqual([meant, expect.arrayContaining([it])]);
      }
    },
  );

  it('maps names in rules to tools that exist', () => {
    for (const { namesInRules = {} } of allDialects())
      for (const [name, tool] of Object.entries(namesInRules)) expect([name, registry.resolve(tool)?.name]).toEqual([name, tool]);
  });

  it.each(tools)(
    'adapts in the dialect %s all arguments that its %s accepts to canonical ones, or explains the fault',
    (dialect, name, spoken) => {
      const { tool, means = [tool] } = spoken;
      const view = viewOf(dialect);
      fc.assert(
        fc.property(argumentsOf(view.schemaOf(name) ?? {}), (args) => {
          const understood = view.understand(name, args, { inSession: true });
          if (!understood.ok) {
            expect(understood).toMatchObject({ code: 'invalid_arguments', message: expect.stringMatching(/\S/) });
            return;
          }
          // Other names are unknown to the gateway, which rejects the call.
          if (!means.includes(registry.resolve(name)?.name ?? tool)) expect(means).toContain(understood.tool);
          const checked = registry.validateArguments(understood.tool, understood.args);
          const message = checked.ok ? '' : checked.failure.message;
          // Tools may reject arguments that only they can check, such as the syntax of an expression.
          if (!checked.ok && !message.startsWith('Invalid arguments:')) expect(message).toMatch(/\S/);
          else expect([message, understood.args]).toEqual(['', understood.args]);
        }),
        { numRuns: 200 },
      );
    },
  );

  it.each(tools)(
    'shows in the catalog of the dialect %s the tool %s with all of its names, and resolves each',
    (dialect, name, { aliases = [], hidden = false }) => {
      const view = viewOf(dialect);
      const [descriptor] = view.catalog(registry.list()).filter((tool) => tool.name === name);
      if (hidden) {
        expect([descriptor, view.find(name)?.name]).toEqual([undefined, name]);
        return;
      }
      expect(descriptor).toMatchObject({ name, aliases, description: expect.stringMatching(/\S/), input: { type: 'object' } });
      for (const alias of aliases) expect(view.find(alias)?.name).toBe(name);
    },
  );

  it('understands every action of the canonical browser in the words of zeroclaw', () => {
    const actionsOf = (schema: object | undefined): string[] =>
      (schema as { properties: { action: { enum: string[] } } }).properties.action.enum.toSorted();
    const view = viewOf('zeroclaw');
    expect(actionsOf(view.schemaOf('browser'))).toEqual(actionsOf(registry.resolve('browser')?.input));
    const args = { action: 'find', by: 'role', value: 'button', find_action: 'click' };
    expect(view.understand('browser', args, { inSession: true })).toMatchObject({ ok: true, tool: 'browser', args });
  });
});

describe('the list of dialects', () => {
  it('lists exactly the dialects that have a file: run npm run generate', () => expect(outdated()).toEqual([]));

  it('names dialects only in the list and in their files', () => {
    const top = new URL('../../../', import.meta.url);
    // Policy profiles and clients of MCP are named after agents, and an example of the API documents speaks as one.
    const allowed =
      /^libs\/(?:dialects\/src\/|contracts\/src\/(?:values\/dialect-names|policy\/profiles?)\.ts$)|\/operations\/docs\/examples\/|^apps\/cli\/src\/mcp\/clients\.ts$/;
    const quoted = new RegExp(
      `(['"])(?:${allDialects()
        .map(({ name }) => name)
        .join('|')})\\1`,
    );
    const sources = ['libs', 'apps']
      .flatMap((folder) => readdirSync(new URL(folder, top), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`))
      .filter((file) => /^[^/]+\/[^/]+\/src\/.*\.tsx?$/.test(file) && !/\.(?:spec|contract)\.tsx?$|\/testing\//.test(file));
    expect(sources.length).toBeGreaterThan(1_000);
    const named = sources.filter((file) => !allowed.test(file) && quoted.test(readFileSync(new URL(file, top), 'utf8')));
    expect(named).toEqual([]);
    for (const dialect of allDialects()) expect(dialectOf(dialect.name)).toBe(dialect);
  });
});

describe('the code of tools', () => {
  it('mentions no agent outside of its dialect', () => {
    const root = new URL('../../tools/src/', import.meta.url);
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (file) => /\.c?ts$/.test(file) && !file.endsWith('.spec.ts'),
    );
    expect(files.length).toBeGreaterThan(100);
    const agents = new RegExp(
      `\\b(${allDialects()
        .flatMap(({ name, profile }) => [name, profile])
        .join('|')}|claude)\\b|\\.profile\\b`,
      'i',
    );
    expect(files.filter((file) => agents.test(readFileSync(new URL(file, root), 'utf8')))).toEqual([]);
  });
});
