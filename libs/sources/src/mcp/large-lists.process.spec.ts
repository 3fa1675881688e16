import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { SourceDefinition, type StoredSource } from '#contracts';
import type { ToolContext } from '#tool-sdk';
import { mcpConnector } from '../testing/mcp-connector.js';

/** A server whose list has pages without end, of which PAGE makes each. Its tool says how many were read, and of which process. */
const PROGRAM = `
let pages = 0;
const tool = (name, description = '') => ({ name, description, inputSchema: { type: 'object' } });
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answers = {
    initialize: () => ({ result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'large', version: '1' } } }),
    'tools/list': () => { const page = Number(params?.cursor ?? 0); pages += 1; return PAGE; },
    'tools/call': () => ({ result: { content: [{ type: 'text', text: String(pages) }] } }),
  };
  const rest = answers[method]?.() ?? { error: { code: -32601, message: 'unknown' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...rest }) + '\\n');
});`;

describe('McpConnector with a server whose list is large', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-lists-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const listed = async (page: string) => {
    const command = [process.execPath, '-e', PROGRAM.replace('PAGE', () => page)];
    const stored: StoredSource = { tenantId: 't', origin: 'api', definition: SourceDefinition.parse({ name: 'x', kind: 'mcp', command }) };
    const connection = await mcpConnector([], { folder }).open(stored, AbortSignal.timeout(30_000));
    try {
      const { tools, problems } = await connection.list(AbortSignal.timeout(30_000));
      const ctx = { signal: AbortSignal.timeout(20_000), deadline: Date.now() + 20_000, onProgress: () => {} } as unknown as ToolContext;
      const output = await connection.call('t0', {}, ctx);
      return { names: tools.map(({ rawName }) => rawName), problems, output };
    } finally {
      await connection.close();
    }
  };
  const text = (said: string) => ({ content: [{ type: 'text', text: said }] });
  const six = "'x'.repeat(6_000_000)";

  it('offers the tools of the first 32 MiB of a list, asks for no more and names the rest', async () => {
    const page = `({ result: { tools: [tool('t' + page), tool('large' + page, ${six})], nextCursor: String(page + 1) } })`;
    expect(await listed(page)).toEqual({
      names: [0, 1, 2, 3, 4, 5].flatMap((it) => [`t${it}`, `large${it}`]),
      problems: ['its list of tools is larger than 33554432 bytes: later pages were left out'],
      output: text('6'),
    });
  });

  it.each([
    ['refuses its own cursor', `page === 0 ? FIRST : { error: { code: -32602, message: 'Invalid cursor' } }`, /\(Invalid cursor\)/],
    [
      'has a page of more than 8 MiB',
      `page === 0 ? FIRST : { result: { tools: [tool('large', ${six} + ${six})] } }`,
      /more than 8388608 bytes/,
    ],
  ])('offers the earlier tools from the same server if one %s', async (_what, page, why) => {
    expect(await listed(page.replace('FIRST', "{ result: { tools: [tool('t0')], nextCursor: '1' } }"))).toEqual({
      names: ['t0'],
      problems: [expect.stringMatching(why)],
      output: text('2'),
    });
  });

  it('offers the first 20,000 tools of a list that has more, and names the rest', async () => {
    const page = "({ result: { tools: Array.from({ length: 30_000 }, (_, index) => tool('t' + index)) } })";
    const { names, problems } = await listed(page);
    expect([names.length, problems]).toEqual([20_000, ['its list has more than 20000 tools: later ones were left out']]);
  });
});
