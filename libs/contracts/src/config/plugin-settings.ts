import { z } from 'zod';

/** npm package whose tools workers load. */
export const PluginSettings = z
  .strictObject({
    package: z
      .string()
      .min(1)
      .max(1_024)
      .describe(
        'Name of an installed npm package, or a path that begins with `./`, `../` or `/`. Found from the folder of the config file.',
      ),
    config: z.record(z.string(), z.json()).default({}).describe('Settings of the plugin; it checks them itself.'),
    trust: z
      .boolean()
      .default(false)
      .describe('Tier, effect, pool and subjects come from the plugin. Not set: every tool is privileged and never runs twice.'),
  })
  .meta({ id: 'PluginSettings', description: 'An npm package whose tools workers load.' });
export type PluginSettings = z.output<typeof PluginSettings>;

export const Plugins = z
  .array(PluginSettings)
  .max(100)
  .refine((plugins) => new Set(plugins.map((plugin) => plugin.package)).size === plugins.length, 'expected each package once')
  .default([]);
