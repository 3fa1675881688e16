import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SDK = pathToFileURL(join(process.cwd(), 'dist/libs/tool-sdk/src/index.js')).href;
const ZOD = pathToFileURL(join(process.cwd(), 'node_modules/zod/index.js')).href;

const SAMPLE = `import { definePlugin, defineTool, Suspension, Tool, ToolError } from '@toolyard/tool-sdk';
import { z } from 'zod';

class Shout {
  constructor(greeting) {
    this.greeting = greeting;
  }
  check({ name }) {
    if (name === '') throw new ToolError('invalid_arguments', 'The name is empty.');
  }
  run({ name }, ctx) {
    ctx.onUpdate([{ type: 'text', text: 'shouting' }]);
    return (this.greeting + ', ' + name + '!').toUpperCase();
  }
}
Tool({ name: 'shout', description: 'Greets loudly.', input: z.strictObject({ name: z.string() }), tier: 'read_only' })(Shout);

export default definePlugin({
  name: 'greeter',
  config: z.strictObject({ greeting: z.string() }),
  tools: ({ greeting }) => [
    new Shout(greeting),
    defineTool({
      name: 'greet_later',
      description: 'Waits, then greets.',
      input: z.strictObject({ name: z.string() }),
      tier: 'read_only',
      run: ({ name }, { attempt }) => (attempt === 1 ? new Suspension(10) : greeting + ', ' + name),
    }),
    defineTool({
      name: 'greet_wrong',
      description: 'Throws what no tool should throw.',
      input: z.strictObject({}),
      run: () => {
        throw new Error('secret detail');
      },
    }),
  ],
});
`;

/** A folder with an npm package that is a plugin, and with the packages that it imports. */
export function writePluginPackage(folder: string, name = 'toolyard-plugin-greeter', code = SAMPLE): void {
  const put = (file: string, text: string) => {
    mkdirSync(join(folder, 'node_modules', file, '..'), { recursive: true });
    writeFileSync(join(folder, 'node_modules', file), text);
  };
  put(`${name}/package.json`, JSON.stringify({ name, type: 'module', exports: { './other': './other.js' }, toolyard: './dist/plugin.js' }));
  put(`${name}/dist/plugin.js`, code);
  for (const [wanted, at] of Object.entries({ '@toolyard/tool-sdk': SDK, zod: ZOD })) {
    put(`${wanted}/package.json`, JSON.stringify({ name: wanted, type: 'module', exports: './index.js' }));
    put(`${wanted}/index.js`, `export * from '${at}';\n`);
  }
}
