import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { StoredSource } from '#contracts';
import type { SourceConnection } from '../source-connector.port.js';
import { SharedConnection } from './shared-connection.js';

it('keeps the connection with new secrets when the one that it replaced while opening is lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-secret-'));
  const secretFile = join(folder, 'token');
  writeFileSync(secretFile, 'first-token');
  const opened: ((connection: SourceConnection) => void)[] = [];
  const lost: string[] = [];
  const definition = {
    name: 'ours',
    kind: 'mcp',
    url: 'https://a.example',
    headers: { 'x-token': { secretFile } },
    trust: true,
    pin: true,
  };
  const shared = new SharedConnection(
    { tenantId: 'a', origin: 'config', definition } as unknown as StoredSource,
    { open: () => new Promise((resolve) => opened.push(resolve)) },
    { onChange: () => {}, onLost: (reason) => void lost.push(reason) },
    () => 0,
  );
  const first = shared.get();
  writeFileSync(secretFile, 'second-longer-token');
  const second = shared.get();
  expect(second).not.toBe(first);
  const closings: ((reason: string) => void)[] = [];
  for (const resolve of opened)
    resolve({
      list: async () => ({ tools: [] }),
      call: async () => '',
      onChange: () => {},
      onClosed: (listener) => void closings.push(listener),
      close: async () => {},
    });
  await Promise.all([first, second]);
  closings[0]?.('the old one broke');
  expect(lost).toEqual([]);
  expect(shared.get()).toBe(second);
  closings[1]?.('the new one broke');
  expect(lost).toEqual(['the new one broke']);
  await shared.close();
  rmSync(folder, { recursive: true });
});
