import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BubblewrapSandbox } from '#sandbox';
import { textFrom } from '../testing/outputs.js';
import { scriptedServer } from '../testing/scripted-server.js';
import { type TestWorkspace, testWorkspace } from '../testing/test-workspace.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { LanguageServerTool } from './language-server.tool.js';
import { LanguageServers } from './server/language-servers.js';

let workspace: TestWorkspace;
let servers: LanguageServers;
beforeEach(async () => {
  workspace = await testWorkspace();
  const settings = {
    servers: [scriptedServer({ 'textDocument/hover': 'looks' })],
    most: 4,
    idleMs: 60_000,
    startMs: 20_000,
    requestMs: 20_000,
    quietMs: 20,
  };
  servers = new LanguageServers(settings, new BubblewrapSandbox({ network: 'host' }));
});
afterEach(async () => {
  await servers.close();
  await workspace.remove();
});

describe('a language server in bubblewrap', () => {
  const denied = {
    denialReason: (path: string) => (path.startsWith(`${workspace.root}/secret`) ? 'It is denied.' : undefined),
    mayDenyBelow: () => true,
  };
  const look = (more: object = {}) =>
    textFrom(
      new LanguageServerTool(servers).run(
        { operation: 'get_hover', path: 'a.ts', row: 1, column: 1, limit: 50 },
        fakeToolContext({ workspace: { root: workspace.root, ...more } }),
      ),
    );

  it('limits a language server to reading the allowed workspace, without writing or network', async () => {
    await workspace.put('a.ts', 'own\n');
    await workspace.put('secret/a.ts', 'hidden\n');
    const rest = 'outside: ENOENT\nwrite: EROFS\nnetwork: 0';
    expect(await look({ denied })).toBe(`read: own\ndenied: ENOENT\n${rest}`);
    expect(await look()).toBe(`read: own\ndenied: hidden\n${rest}`);
    expect(await look({ denied })).toContain('denied: ENOENT');
  });
});
