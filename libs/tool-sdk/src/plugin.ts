import { z } from 'zod';
import type { DecoratedTool } from './registry/builtin.source.js';
import { toolOptionsOf, type AnyToolHandler } from './tool.decorator.js';

/** Known to every copy of this library: a plugin may come with its own. */
const PLUGIN = Symbol.for('toolyard.plugin');

/** Default export of the `toolyard` file of an npm package. */
export interface Plugin {
  /** The source of its tools, as a lower-case letter and at most 31 lower-case letters, digits or `-`. */
  readonly name: string;
  /** Checks the settings and creates the tools. Rejects with an error about invalid settings. */
  open(config: unknown): Promise<readonly DecoratedTool[]>;
}

export interface PluginDefinition<C extends z.ZodType> {
  readonly name: string;
  /** Schema of `config` in the config file. */
  readonly config: C;
  /** Tools of `defineTool`, or instances of classes with `@Tool`. */
  readonly tools: (
    config: z.output<C>,
  ) => readonly (DecoratedTool | AnyToolHandler)[] | Promise<readonly (DecoratedTool | AnyToolHandler)[]>;
}

/**
 * A plugin: an npm package whose `package.json` says `"toolyard": "./dist/plugin.js"`, which exports this by default.
 *
 * @throws Error without `config` or `tools`
 *
 * @example
 * export default definePlugin({
 *   name: 'greeter',
 *   config: z.strictObject({ greeting: z.string().default('Hello') }),
 *   tools: ({ greeting }) => [
 *     defineTool({
 *       name: 'greet',
 *       description: 'Greets a person.',
 *       input: z.strictObject({ name: z.string() }),
 *       run: ({ name }) => `${greeting}, ${name}!`,
 *     }),
 *   ],
 * });
 */
export function definePlugin<C extends z.ZodType>(definition: PluginDefinition<C>): Plugin {
  checkDefinition(definition);
  const { name, config: schema, tools } = definition;
  const plugin = {
    [PLUGIN]: 1,
    name,
    open: async (config: unknown) => {
      const parsed = schema.safeParse(config);
      if (!parsed.success) throw new Error(`its config is wrong: ${z.prettifyError(parsed.error).replaceAll(/\s*\n\s*/g, ' ')}`);
      return (await tools(parsed.data)).map(toDecorated);
    },
  };
  return plugin;
}

/** For authors who write JavaScript. */
function checkDefinition({ config, tools }: { readonly config?: unknown; readonly tools?: unknown }): void {
  if (typeof config !== 'object' || config === null || !('safeParse' in config))
    throw new Error('definePlugin needs config, a Zod schema of its settings; without settings z.strictObject({})');
  if (typeof tools !== 'function') throw new Error('definePlugin needs tools, a function of the settings that returns an array of tools');
}

/** True if a module exports a plugin, of this or another copy of the library. */
export function isPlugin(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && PLUGIN in value;
}

function toDecorated(tool: DecoratedTool | AnyToolHandler): DecoratedTool {
  if ('options' in tool) return tool;
  const options = toolOptionsOf(tool.constructor);
  if (options === undefined)
    throw new Error(`${tool.constructor.name} is no tool: expected defineTool({...}) or an instance of a class with @Tool`);
  return { options, handler: tool };
}
