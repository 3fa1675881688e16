import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { startScriptedModel } from '../../apps/examples/src/scripted-model.js';
import { eventually } from '../support/eventually.js';
import { follow, startVariables, writeFiles, type Place } from '../support/guide.js';
import { cleanUp, freshDirectory, spawnStandalone, type StandaloneProcess } from '../support/standalone.js';

const guide = (name: string) => `deploy/guides/${name}.md`;
const GUIDES = [
  'mcp-clients',
  'python',
  'write-a-tool',
  'govern-a-team',
  'kubernetes',
  'approvals-from-chat',
  'upgrade',
  'threat-model',
  'schedules',
];
/** Values that readers put in place of the keys. */
const KEYS = {
  '<key-of-bot>': 'release-bot-of-the-guides',
  '<key-of-ada>': 'ada-of-the-guides',
  '<key-of-bo>': 'bo-of-the-guides',
};

let toolyard: StandaloneProcess;
let model: Awaited<ReturnType<typeof startScriptedModel>>;
let place: Place;

beforeAll(async () => {
  const folder = freshDirectory();
  for (const name of ['apps', 'deploy']) symlinkSync(join(process.cwd(), name), join(folder, name));
  place = { folder, replacements: KEYS, env: {} };
  writeFiles(guide('govern-a-team'), place);
  const variables = Object.entries(startVariables(GUIDES.map(guide))).map(([name, file]) => [name, join(folder, file)]);
  mkdirSync(join(folder, 'tools'));
  const data = join(folder, '.toolyard');
  toolyard = await spawnStandalone(data, { ...(Object.fromEntries(variables) as Record<string, string>), DATABASE_URL: '' });
  [model] = await Promise.all([startScriptedModel(), toolyard.up()]);
  const replacements = {
    ...KEYS,
    'http://127.0.0.1:7411': toolyard.url,
    'https://api.openai.com/v1': `${model.url}/v1`,
    '<key>': toolyard.key(),
  };
  const started = async () => {
    const offered = async () =>
      (await fetch(`${toolyard.url}/v1/tools`, { headers: { authorization: `Bearer ${toolyard.key()}` } })).text();
    for (const name of readdirSync(join(folder, 'tools')))
      await eventually(async () => (await offered()).includes(`"${name}"`), `the tool ${name}`);
  };
  place = {
    folder,
    started,
    replacements,
    env: { PATH: `${join(folder, 'apps/cli/bin')}:${process.env['PATH']}`, HOME: process.env['HOME'] ?? '' },
  };
});
afterAll(async () => {
  model?.close();
  await cleanUp();
});

describe('the guide', () => {
  it.each(GUIDES)('follows the guide %s', (name) => follow(guide(name), place));
});

describe('http.mcp.json', () => {
  const Servers = z.object({
    mcpServers: z.object({
      toolyard: z.strictObject({ type: z.literal('http'), url: z.string(), headers: z.record(z.string(), z.string()) }),
    }),
  });

  it('connects an MCP client by http.mcp.json', async () => {
    writeFiles(guide('mcp-clients'), place);
    const { url, headers } = Servers.parse(JSON.parse(readFileSync(join(place.folder, 'http.mcp.json'), 'utf8'))).mcpServers.toolyard;
    const client = new Client({ name: 'guides', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    const { content } = await client.callTool({ name: 'shell', arguments: { command: 'echo connected' } });
    await client.close();
    expect(content).toEqual([{ type: 'text', text: expect.stringContaining('connected') }]);
  });
});
