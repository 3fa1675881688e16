import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { SafetySettings } from '#contracts';
import { BOOTSTRAP_KEY } from '../support/gateway.js';
import { startBridge, type Bridge } from '../support/mcp-bridge.js';
import { connectMcp, type TestClient } from '../support/mcp-clients.js';
import { installPackages } from '../support/npm-packages.js';

/**
 * Servers that start without an account; those of `test/deploy/mcp-interop` besides. Each with a call, and how it ends: `same`
 * as directly, or as an error in both, whose words depend on the network, the home and the programs of the machine.
 */
const SERVERS = [
  [
    'thinking',
    '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
    'sequentialthinking',
    { thought: 'One.', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    'same',
  ],
  ['lint', '@eslint/mcp@0.3.13', 'lint-files', { filePaths: ['absent.js'] }, 'same'],
  ['git', '@cyanheads/git-mcp-server@2.15.3', 'git_status', { path: '/absent' }, 'same'],
  ['commander', '@wonderwhy-er/desktop-commander@0.2.52', 'get_file_info', { path: '/absent' }, 'same'],
  ['components', '@mui/mcp@0.1.6', 'fetchDocs', { urls: [] }, 'same'],
  ['browser', '@playwright/mcp@0.0.83', 'browser_navigate', { url: 'http://127.0.0.1:9/' }, 'error'],
  ['docs', '@upstash/context7-mcp@4.1.1', 'query-docs', { libraryId: 'no-id', query: 'x' }, 'error'],
  ['charts', '@antv/mcp-server-chart@0.9.10', 'generate_bar_chart', { data: [] }, 'error'],
  ['notes', '@notionhq/notion-mcp-server@2.5.2', 'API-get-user', { user_id: '7' }, 'error'],
  ['cluster', 'mcp-server-kubernetes@4.1.7', 'kubectl_get', { resourceType: 'pods' }, 'error'],
] as const;

describe('MCP servers from npm', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-mcp-servers-'));
  const direct: Client[] = [];
  let bridge: Bridge;
  let client: TestClient;

  /** The program of a package, at home in the folder where it starts. */
  const commandOf = (pack: string): readonly [string, ...string[]] => {
    const path = join(folder, 'node_modules', pack.slice(0, pack.lastIndexOf('@')));
    const { bin } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { bin: string | Record<string, string> };
    const [program = ''] = typeof bin === 'string' ? [bin] : Object.values(bin);
    return ['sh', '-c', `HOME="$PWD" exec ${process.execPath} ${join(path, program)}`];
  };

  beforeAll(async () => {
    writeFileSync(join(folder, 'package.json'), '{}');
    await installPackages(
      folder,
      SERVERS.map(([, pack]) => pack),
    );
    const sources = SERVERS.map(([name, pack]) => ({ name, kind: 'mcp', command: commandOf(pack), paths: [folder], trust: true }));
    // Texts are compared: they have no mark of untrusted content.
    const trusted = SERVERS.map(([name]) => name);
    bridge = await startBridge(sources, { safety: SafetySettings.parse({ provenance: { trusted } }) });
    client = await connectMcp('2026-07-28', { key: BOOTSTRAP_KEY, urls: [bridge.gateway.url] });
  });
  afterAll(async () => {
    for (const one of direct) await one.close();
    await client?.close();
    await bridge?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(SERVERS)('offers every tool of the MCP server %s (%s) and answers a call like it', async (name, pack, tool, args, ending) => {
    const [command, ...words] = commandOf(pack);
    const cwd = join(folder, 'direct', name);
    mkdirSync(cwd, { recursive: true });
    const one = new Client({ name: 'direct', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    await one.connect(new StdioClientTransport({ command, args: words, cwd, stderr: 'ignore' }));
    direct.push(one);
    const expected = (await one.listTools()).tools.map((it) => it.name);
    const all = (await client.tools()).tools.map((it) => it.name);
    const nameOf = (it: string) => [`${name}__${it}`, it].find((known) => all.includes(known));
    expect([expected.length > 0, expected.filter((it) => nameOf(it) === undefined)]).toEqual([true, []]);

    const answerOf = ({ content, isError = false }: { content?: unknown; isError?: boolean | undefined }) =>
      ending === 'same' ? { content, isError } : { isError };
    // An error of the protocol is one for the model.
    const directly = await one.callTool({ name: tool, arguments: args }).catch(() => ({ isError: true }));
    expect(answerOf(await client.call(nameOf(tool) ?? tool, args))).toEqual(answerOf(directly));
  });
});
