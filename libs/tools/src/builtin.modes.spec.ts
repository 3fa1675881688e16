import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { BubblewrapSandbox, DEFAULT_LIMITS, EgressPolicy, DisabledSandbox, Sandbox, egressPolicyFrom } from '#sandbox';
import { ToolRegistry } from '#tool-sdk';
import { type TestSite, testSite } from '../../sandbox/src/testing/test-site.fixture.js';
import { BROWSER_SETTINGS, browserSettingsFrom } from './browser/browser.config.js';
import { testWorkspace } from './testing/test-workspace.js';
import { toolContract } from './tool.contract.js';
import { ToolsModule } from './tools.module.js';
import { searchProvidersFrom } from './web/search-providers/providers.js';
import { SEARCH_PROVIDERS } from './web/web-search.tool.js';

/** Tools whose examples need missing files and hosts. */
const NOT_RUN = [
  'aws',
  'browser',
  'powershell',
  'shell',
  'shell_list',
  'shell_output',
  'shell_stop',
  'web_fetch',
  'http_request',
  'web_search',
];

let app: TestingModule;
let site: TestSite;
/** Called by a request that stays without an answer. */
let held: () => void = () => {};
beforeAll(async () => {
  site = await testSite((_request, response, path) => {
    if (/^\/(?:search\?q=)?held\b/.test(path)) return held();
    response.writeHead(path === '/page' ? 200 : 404, { 'content-type': 'text/html' }).end('<p>x');
  });
  // Random commands run isolated or not at all.
  const bubblewrap = new BubblewrapSandbox({ limits: { ...DEFAULT_LIMITS, cpuSeconds: 2, processes: 32 } });
  const sandbox = (await bubblewrap.probe()).ok ? bubblewrap : new DisabledSandbox();
  const providers = [
    { provide: Sandbox, useValue: sandbox },
    { provide: BROWSER_SETTINGS, useValue: browserSettingsFrom({ BROWSER: 'off' }) },
    { provide: EgressPolicy, useValue: egressPolicyFrom({ EGRESS_ALLOW_HOSTS: site.host }) },
    { provide: SEARCH_PROVIDERS, useValue: searchProvidersFrom({ SEARXNG_URLS: `http://${site.host}` }) },
  ];
  app = await Test.createTestingModule({ imports: [ToolsModule.forRoot({ providers })] }).compile();
  await app.init();
});
afterAll(async () => {
  await app.close();
  await site.close();
});

async function workspace(): Promise<{ root: string; snapshot(): Promise<string>; remove(): Promise<void> }> {
  const made = await testWorkspace();
  await made.put('example/notes.md', '# Notes\n\nTODO: choose a colour\nThe colour is blue.\n');
  await made.put('README.md', '# Read me\nTODO: everything\n');
  await made.put('src/app.ts', 'export class AppTool {\n  colour = 1;\n}\n'.repeat(20));
  return { root: made.root, snapshot: () => snapshot(join(made.root, '..')), remove: made.remove };
}

/** Everything at and beside the workspace, with its content. */
async function snapshot(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isFile() ? `${path}: ${await readFile(path, 'utf8')}` : `${path}/`;
  });
  return (await Promise.all(files)).sort().join('\n');
}

const files = await readdir(new URL('./', import.meta.url), { recursive: true });
const names = files.filter((file) => file.endsWith('.tool.ts')).map((file) => basename(file, '.tool.ts').replaceAll('-', '_'));

toolContract(names.sort(), () => ({
  registry: app.get(ToolRegistry),
  workspace,
  notRun: NOT_RUN,
  slow: (begun) => {
    held = begun;
    const url = `http://${site.host}/held`;
    return { shell: { command: 'echo up; sleep 600' }, web_fetch: { url }, http_request: { url }, web_search: { query: 'held' } };
  },
  // An interpreter for each of 500 inputs would take a minute.
  contexts: { repl: { sessionId: 'one' } },
  texts: {
    http_request: [`http://${site.host}/page`, 'http://127.0.0.1:1/', 'http://[', '//x'],
    shell: ['exit 3', 'kill -9 $$', 'echo a; echo b >&2', 'cat README.md; false', '"', "'", '$(', 'while', ': > x; rm -r *', 'cd ..; pwd'],
    repl: ['1 +', 'exit()', 'n = 1', 'while', '"', "'", 'throw 1', 'raise', 'print(1)', 'process.exit(3)'],
    web_fetch: [
      `http://${site.host}/page`,
      `http://${site.host}/gone`,
      'http://127.0.0.1:1/',
      'file:///etc/passwd',
      'http://[',
      'https://',
      '//x',
    ],
  },
}));

describe('the built-in tools', () => {
  it('registers all built-in tools, each in the file of its name [RP-13]', () => {
    const registered = app.get(ToolRegistry).list();
    expect(registered.map(({ name }) => name)).toEqual(names);
    expect(names).toEqual(
      expect.arrayContaining(['echo', 'file_edit', 'file_list', 'file_read', 'file_search', 'file_write', 'glob', 'sleep']),
    );
  });

  it.each([
    ['file_read', ['read_file', 'read', 'fs_read', 'fsRead']],
    ['file_write', ['write_file', 'write', 'fs_write', 'fsWrite']],
    ['file_edit', ['edit_file']],
    ['file_list', ['list_files', 'ls']],
    ['file_search', ['search', 'grep', 'grep_search']],
    ['glob', ['glob_search']],
  ])('finds %s by the names that other agents use [CC-14]', (name, aliases) => {
    for (const alias of aliases) expect(app.get(ToolRegistry).resolve(alias)?.name).toBe(name);
  });

  it('declares reading built-in tools as pure, and writing ones as run once [CC-11]', () => {
    const effects = Object.fromEntries(
      app
        .get(ToolRegistry)
        .list()
        .map(({ name, tier, effect }) => [name, `${tier} ${effect}`]),
    );
    expect(effects).toMatchObject({
      file_read: 'read_only pure',
      glob: 'read_only pure',
      file_write: 'side_effecting once',
      file_edit: 'side_effecting once',
      sleep: 'read_only pure',
    });
  });
});
