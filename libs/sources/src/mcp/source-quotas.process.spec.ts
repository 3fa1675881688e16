import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { SourceDefinition, type StoredSource } from '#contracts';
import { WorkspaceQuotas } from '#sandbox';
import { digestOf, MANIFEST, mcpBundle } from '../../../../test/support/mcp-bundle.js';
import { mcpConnector } from '../testing/mcp-connector.js';
import type { McpConnector } from './mcp.source.js';

const BYTES = 1_000_000;

let folder: string;
let quotas: WorkspaceQuotas;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolyard-source-quotas-'));
  const none = { bytes: Infinity, files: Infinity };
  quotas = new WorkspaceQuotas({ workspace: none, tenant: { bytes: BYTES, files: Infinity } });
});
afterEach(async () => {
  await quotas.close();
  rmSync(folder, { recursive: true, force: true });
});

const stored = (tenantId: string, name: string, definition: object): StoredSource => ({
  tenantId,
  origin: 'api',
  definition: SourceDefinition.parse({ name, kind: 'mcp', ...definition }),
});
const open = async (connector: McpConnector, source: StoredSource) => {
  const connection = await connector.open(source, AbortSignal.timeout(60_000));
  await connection.close();
  return 'opened';
};
/** A connector whose tenants have uploaded these bundles. */
const withUploads = (uploads: Readonly<Record<string, readonly Buffer[]>>) =>
  mcpConnector([], {
    folder,
    quotas,
    env: { TOKEN: 'secret' },
    uploaded: {
      keep: async () => {},
      read: ({ tenantId, sha256 }) => {
        const bytes = uploads[tenantId]?.find((it) => digestOf(it) === sha256);
        if (bytes === undefined) throw new Error('the bundle is not stored');
        return Readable.from([bytes]) as unknown as AsyncGenerator<Buffer>;
      },
    },
  });
const CONFIG = { token: { secretEnv: 'TOKEN' } };

it('runs an uploaded bundle for its tenant alone: another tenant that knows its digest gets nothing of it', async () => {
  const { bytes, sha256 } = await mcpBundle();
  const connector = withUploads({ owner: [bytes] });
  const bundle = { bundle: { sha256, config: CONFIG } };
  expect(await open(connector, stored('owner', 'greeter', bundle))).toBe('opened');
  await expect(open(connector, stored('thief', 'greeter', bundle))).rejects.toThrow('the bundle is not stored');
  expect(await open(connector, stored('owner', 'again', bundle))).toBe('opened');
});

it('unpacks no more bundles of a tenant than it may have on the disk of a worker, and those of another tenant', async () => {
  const large = (letter: string) =>
    mcpBundle([
      { name: 'manifest.json', text: JSON.stringify(MANIFEST) },
      { name: letter, text: letter.repeat(0.7 * BYTES) },
    ]);
  const [first, second] = [await large('a'), await large('b')];
  const connector = withUploads({ full: [first.bytes, second.bytes], other: [second.bytes] });
  const unpack = (tenantId: string, { sha256 }: { readonly sha256: string }) =>
    open(connector, stored(tenantId, `s-${sha256.slice(0, 8)}`, { bundle: { sha256, config: CONFIG } })).catch(String);
  // The bundles have no server: they fail later, when it is started.
  expect(await unpack('full', first)).not.toContain('TENANT_QUOTA_BYTES');
  expect(await unpack('full', second)).toContain('TENANT_QUOTA_BYTES');
  expect(await unpack('other', second)).not.toContain('TENANT_QUOTA_BYTES');
});

it('deletes what the program of a removed source wrote, and nothing of another source', async () => {
  const connector = mcpConnector([], { folder });
  const [home, other] = [join(folder, 'owner', 'greeter'), join(folder, 'owner', 'other')];
  mkdirSync(join(home, 'locked', 'inner'), { recursive: true });
  mkdirSync(other);
  writeFileSync(join(other, 'kept'), '');
  symlinkSync(other, join(home, 'link'));
  chmodSync(join(home, 'locked'), 0);
  await connector.removed(stored('owner', 'greeter', { command: ['node'] }));
  expect([readdirSync(join(folder, 'owner')), readdirSync(other)]).toEqual([['other'], ['kept']]);
  await connector.removed(stored('owner', 'greeter', { command: ['node'] }));
});

it('stops a program that fills the disk of a worker, and starts it again after its source was removed', async () => {
  const program = `
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (id === undefined) return;
      const results = {
        initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'f', version: '1' } },
        'tools/list': { tools: [] },
      };
      if (method === 'tools/list') require('fs').writeFileSync('filler', Buffer.alloc(${3 * BYTES}, 'x'));
      const rest = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'unknown' } };
      console.log(JSON.stringify({ jsonrpc: '2.0', id, ...rest }));
    });`;
  const connector = mcpConnector([], { folder, quotas, measureMs: 20 });
  const source = stored('filling', 's', { command: [process.execPath, '-e', program] });
  const connection = await connector.open(source, AbortSignal.timeout(60_000));
  const closed = new Promise<string>((resolve) => connection.onClosed(resolve));
  await connection.list(AbortSignal.timeout(60_000)).catch(() => undefined);
  expect(await closed).toContain('WORKSPACE_QUOTA_BYTES');
  await connection.close();
  await expect(open(connector, source)).rejects.toThrow('WORKSPACE_QUOTA_BYTES');
  await connector.removed(source);
  expect(await open(connector, source)).toBe('opened');
});
