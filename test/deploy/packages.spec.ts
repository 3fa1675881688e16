import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { startBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { installPackages } from '../support/npm-packages.js';
import { cleanUp, echo, freshDirectory, isRunning, spawnStandalone, submit, type StandaloneProcess } from '../support/standalone.js';

const PACKED = join(process.cwd(), 'dist/packages');
const tarball = (name: string) => join(PACKED, `${name}-${version}.tgz`);
const Shipped = z.looseObject({ dependencies: z.record(z.string(), z.string()) });
const Manifest = z.object({ name: z.string(), bin: z.record(z.string(), z.string()).optional() });
const { version, dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string; dependencies: object };

/** A folder that knows nothing of this project. */
let elsewhere: string;
/** Folder that contains only the program from `npm install`. */
let empty: string;
/** The cache of npx, with the downloads of this machine's. */
let npxCache: string;
let app: StandaloneProcess;
let toolyard: readonly string[];

const put = (file: string, text: string) => {
  mkdirSync(join(elsewhere, file, '..'), { recursive: true });
  writeFileSync(join(elsewhere, file), text);
  return join(elsewhere, file);
};

/** Runs a program there, with address and key of the gateway, and returns its output. */
function run(file: string, text: string): string {
  const env = { ...process.env, TOOLYARD_URL: app.url, TOOLYARD_API_KEY: app.key() };
  return execFileSync(process.execPath, [put(file, text)], { cwd: elsewhere, env, encoding: 'utf8' });
}

const CALL = `
const client = new ToolyardClient({ baseUrl: process.env.TOOLYARD_URL, apiKey: process.env.TOOLYARD_API_KEY, WebSocket: false });
const types = [];
for await (const event of client.calls.stream({ tool: 'echo', arguments: { text: 'from elsewhere' } })) types.push(event.type.split('.').at(-1));
console.log(types.join(' '), await client.execute('echo', '{"text":"hello"}', { sessionId: 'demo' }));
client.close();
`;

const PLUGIN = `import { definePlugin, defineTool, Suspension, Tool, ToolError } from '@toolyard/tool-sdk';
import { z } from 'zod';

class Refuse {
  run() {
    throw new ToolError('tool_failed', 'refused by the plugin');
  }
}
Tool({ name: 'refuse', description: 'Always fails.', input: z.strictObject({}), tier: 'read_only' })(Refuse);

export default definePlugin({
  name: 'greeter',
  config: z.strictObject({ greeting: z.string() }),
  tools: ({ greeting }) => [
    new Refuse(),
    defineTool({
      name: 'greet',
      description: 'Waits, then greets.',
      input: z.strictObject({ name: z.string() }),
      tier: 'read_only',
      run: ({ name }, { attempt }) => (attempt === 1 ? new Suspension(10) : greeting + ', ' + name + '!'),
    }),
  ],
});
`;

beforeAll(async () => {
  elsewhere = mkdtempSync(join(tmpdir(), 'toolyard-elsewhere-'));
  execFileSync(process.execPath, ['deploy/packages/build.mjs'], { stdio: 'pipe' });
  put('package.json', JSON.stringify({ name: 'elsewhere', private: true }));
  npxCache = mkdtempSync(join(tmpdir(), 'toolyard-npx-'));
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
  symlinkSync(join(cache, '_cacache'), join(npxCache, '_cacache'));
  empty = mkdtempSync(join(tmpdir(), 'toolyard-empty-'));
  await Promise.all([
    installPackages(elsewhere, [tarball('toolyard-client'), tarball('toolyard-tool-sdk')]),
    installPackages(empty, [tarball('toolyard-cli')]),
  ]);
  toolyard = [join(empty, 'node_modules/.bin/toolyard')];
  put('node_modules/toolyard-plugin-greeter/package.json', JSON.stringify({ type: 'module', toolyard: './plugin.js' }));
  put('node_modules/toolyard-plugin-greeter/plugin.js', PLUGIN);
  const config = 'plugins:\n  - { package: toolyard-plugin-greeter, config: { greeting: Good day }, trust: true }\n';
  app = await spawnStandalone(freshDirectory(), { TOOLYARD_CONFIG: put('toolyard.yaml', config) }, toolyard);
  await app.up();
});
afterAll(async () => {
  await cleanUp();
  for (const folder of [elsewhere, empty, npxCache]) rmSync(folder, { recursive: true, force: true });
});

describe('a release', () => {
  const Bill = z.object({
    bomFormat: z.literal('CycloneDX'),
    metadata: z.object({ component: z.object({ purl: z.literal(`pkg:npm/%40toolyard/cli@${version}`), version: z.literal(version) }) }),
    components: z.array(z.object({ name: z.string(), version: z.string() })),
  });

  it('lists every package of a release with its version, and none for tests only', () => {
    const { components } = Bill.parse(JSON.parse(readFileSync(join(PACKED, 'sbom.cdx.json'), 'utf8')));
    const names = new Set(components.map((it) => `${it.name}@${it.version}`));
    expect(Object.entries(dependencies).filter(([name, at]) => !names.has(`${name}@${String(at)}`))).toEqual([]);
    expect(components.map(({ name }) => name)).not.toContain('jest');
  });

  it('has a changelog with a release', () =>
    expect(readFileSync(join(PACKED, 'CHANGELOG.md'), 'utf8')).toMatch(new RegExp(`^# ${version}\n`)));
});

describe('the package @toolyard/cli', () => {
  it('starts everything from the package @toolyard/cli without warnings, runs calls, serves the dashboard', async () => {
    const [program = '', ...args] = toolyard;
    const env = { PATH: process.env['PATH'], TOOLYARD_URL: app.url, TOOLYARD_API_KEY: app.key() };
    const call = spawnSync(program, [...args, 'call', 'shell', 'command=echo packed'], { cwd: elsewhere, env, encoding: 'utf8' });
    expect(call).toMatchObject({ status: 0, stdout: expect.stringContaining('packed') });
    expect(await (await fetch(app.url)).text()).toContain('<title>Toolyard</title>');
    expect((await fetch(`${app.url}/docs`)).status).toBe(200);
    const guide = await submit(app, { tool: 'introspect', arguments: { doc_path: 'deploy/CONFIGURATION.md' } });
    expect(JSON.stringify(guide.result?.content)).toContain('GATEWAY_PORT');
  });

  it('scopes the package @toolyard/cli, like every package here, with the command toolyard', () => {
    const manifests = readdirSync(PACKED, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .toSorted()
      .map((name) => Manifest.parse(JSON.parse(readFileSync(join(PACKED, name, 'package.json'), 'utf8'))));
    expect(manifests.map(({ name, bin }) => [name, Object.keys(bin ?? {})])).toEqual([
      ['@toolyard/cli', ['toolyard']],
      ['@toolyard/client', []],
      ['@toolyard/tool-sdk', []],
    ]);
    expect(JSON.parse(readFileSync('package.json', 'utf8'))).toMatchObject({ private: true });
  });

  it('has its packages in its bundle, needs few others in the versions of this project, and installs without a script', () => {
    const manifest = Shipped.parse(JSON.parse(readFileSync(join(empty, 'node_modules/@toolyard/cli/package.json'), 'utf8')));
    expect(manifest).toMatchObject({ name: '@toolyard/cli', version });
    expect(Object.keys(manifest.dependencies).length).toBeLessThan(10);
    expect(dependencies).toMatchObject(manifest.dependencies);
    expect(manifest).not.toHaveProperty('private');
    expect(manifest).not.toHaveProperty('scripts');
  });

  it('loads a plugin by @toolyard/cli that was written with the package of the SDK', async () => {
    const greeted = await submit(app, { tool: 'greet', arguments: { name: 'Ada' } });
    expect(greeted.result?.content).toEqual([{ type: 'text', text: expect.stringMatching(/Good day, Ada!$/) }]);
    const refused = await submit(app, { tool: 'refuse', arguments: {} });
    expect(refused).toMatchObject({ outcome: 'failed', error: { code: 'tool_failed', message: 'refused by the plugin' } });
  });
});

describe('the package @toolyard/client', () => {
  it('runs the package @toolyard/client in an ES module, and in CommonJS', () => {
    const expected = 'submitted start end {"text":"hello"}\n';
    expect(run('agent.mjs', `import { ToolyardClient } from '@toolyard/client';\n${CALL}`)).toBe(expected);
    const common = `const { ToolyardClient } = require('@toolyard/client');\nrequire('@toolyard/client/worker');\n`;
    expect(run('agent.cjs', `${common}(async () => {${CALL}})();\n`)).toBe(expected);
  });

  it('has types in the package @toolyard/client, also in the ways of bundlers', async () => {
    put(
      'typed.mts',
      `import { ToolyardClient } from '@toolyard/client';
import { toolyardTools } from '@toolyard/client/ai-sdk';
import { defineTool } from '@toolyard/tool-sdk';
import { z } from 'zod';
const client = new ToolyardClient({ baseUrl: 'http://127.0.0.1', apiKey: 'key' });
const call = await client.calls.run({ tool: 'echo', arguments: {} });
export const outcome: 'completed' | 'failed' | 'timed_out' | 'denied' | 'cancelled' | 'unknown' | undefined = call.outcome;
// @ts-expect-error -- a call has no such field
export const nothing = call.nothing;
export const tools = await toolyardTools(client, { sessionId: 's' });
export const tool = defineTool({ name: 'x', description: 'y', input: z.strictObject({ a: z.string() }), run: ({ a }) => a });
`,
    );
    const types = ['--types', 'node', '--typeRoots', join(process.cwd(), 'node_modules/@types')];
    const tsc = join(process.cwd(), 'node_modules/typescript/bin/tsc');
    const compile = (...more: string[]) =>
      promisify(execFile)(process.execPath, [tsc, '--noEmit', '--strict', '--target', 'es2023', ...more, ...types, 'typed.mts'], {
        cwd: elsewhere,
      }).catch(({ stdout }: { readonly stdout: string }) => ({ stdout }));
    const compiled = await Promise.all([
      compile('--module', 'nodenext', '--moduleResolution', 'nodenext'),
      compile('--module', 'esnext', '--moduleResolution', 'bundler', '--skipLibCheck'),
    ]);
    expect(compiled.map(({ stdout }) => stdout)).toEqual(['', '']);
  });

  it('runs the package @toolyard/client in a browser, bundled', async () => {
    const entry = put(
      'page.js',
      `import { ToolyardClient } from '@toolyard/client';
globalThis.run = async (apiKey) => {
  const client = new ToolyardClient({ baseUrl: location.origin, apiKey });
  const types = [];
  for await (const event of client.calls.stream({ tool: 'echo', arguments: { text: 'x' } })) types.push(event.type.split('.').at(-1));
  client.close();
  return types.join(' ');
};
`,
    );
    const lib = { entry, formats: ['iife'], name: 'page', fileName: 'bundle' };
    const settings = put('vite.config.mjs', `export default ${JSON.stringify({ logLevel: 'error', build: { lib, outDir: 'out' } })};`);
    const vite = join(process.cwd(), 'node_modules/vite/bin/vite.js');
    execFileSync(process.execPath, [vite, 'build', elsewhere, '--config', settings], { stdio: 'pipe' });
    const browser = await startBrowser();
    try {
      const page = await browser.open(app.url, {}, app.key());
      await page.evaluate(readFileSync(join(elsewhere, 'out/bundle.iife.js'), 'utf8'));
      expect(await page.evaluate<string>(`run(${JSON.stringify(app.key())})`)).toBe('submitted start end');
    } finally {
      await browser.close();
    }
  });
});

describe('toolyard without a word', () => {
  it('passes Ctrl-C on and exits as standalone does', async () => {
    const other = await spawnStandalone(freshDirectory(), {}, toolyard);
    await other.up();
    const redis = other.redisPid();
    other.signal('SIGINT');
    expect(await other.ended()).toEqual({ code: 0, signal: null });
    expect(isRunning(redis)).toBe(false);
    expect(other.output()).toContain('Ctrl-C: no new calls');
  });
});

describe('npx of the package @toolyard/cli', () => {
  /** Starts in an empty folder, without arguments or questions. Without `file:`, npx would run the package itself as a program. */
  const startByNpx = async () => {
    const env = { npm_config_cache: npxCache, npm_config_ignore_scripts: 'true' };
    const app = await spawnStandalone(freshDirectory(), env, ['npx', '--yes', `file:${tarball('toolyard-cli')}`], {
      detached: true,
      cwd: freshDirectory(),
    });
    await app.up();
    return app;
  };

  it('starts everything by npx, and ends all of it at Ctrl-C in its terminal', async () => {
    const app = await startByNpx();
    expect(await submit(app, echo('by npx'))).toMatchObject({ outcome: 'completed' });
    const started = descendants(app.child.pid ?? 0);
    expect(started).toContain(app.redisPid());
    // A terminal sends it to each process of the group.
    process.kill(-(app.child.pid ?? 0), 'SIGINT');
    await app.ended();
    // The output closes shortly before the last process has ended.
    await eventually(() => !started.some(isRunning), 'the end of everything that npx started');
    expect(app.output()).toContain('Ctrl-C: no new calls');
  });

  it('ends everything that npx started when npx alone gets SIGTERM', async () => {
    const app = await startByNpx();
    const started = descendants(app.child.pid ?? 0);
    expect(started).toContain(app.redisPid());
    app.signal('SIGTERM');
    await app.ended();
    // The output closes shortly before the last process has ended.
    await eventually(() => !started.some(isRunning), 'the end of everything that npx started');
    expect(app.output()).toContain('SIGTERM: no new calls');
  });
});

/** Processes that a process has started, and those that these have. */
function descendants(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '),
  );
  return children
    .filter((child) => child !== '')
    .map(Number)
    .flatMap((child) => [child, ...descendants(child)]);
}
