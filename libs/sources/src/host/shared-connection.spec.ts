import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, jest } from '@jest/globals';
import type { StoredSource } from '#contracts';
import type { ToolContext } from '#tool-sdk';
import type { SourceConnection } from '../source-connector.port.js';
import { SharedConnection } from './shared-connection.js';

afterEach(() => void jest.restoreAllMocks());

it('keeps the connection with new secrets when the replaced one breaks during the opening', async () => {
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

it('opens another connection after a failed list, more slowly each time, and lets a running call end on the first', async () => {
  jest.spyOn(performance, 'now').mockReturnValue(5);
  const log: string[] = [];
  let [opened, isForgotten] = [0, true];
  const answers: ((output: string) => void)[] = [];
  const connector = {
    open: async (): Promise<SourceConnection> => {
      const name = `c${(opened += 1)}`;
      log.push(`open ${name}`);
      return {
        list: () => (isForgotten ? Promise.reject(new Error('who are you')) : Promise.resolve({ tools: [] })),
        call: () => new Promise((resolve) => answers.push(resolve)),
        onChange: () => {},
        onClosed: () => {},
        close: async () => void log.push(`close ${name}`),
      };
    },
  };
  const source = { tenantId: 'a', origin: 'config', definition: { name: 'ours', kind: 'mcp', url: 'https://a.example' } };
  const events = { onChange: () => {}, onLost: () => {} };
  const shared = new SharedConnection(source as unknown as StoredSource, connector, events, () => 1);
  const list = () => shared.list(30_000);
  const call = shared.use((connection) => connection.call('t', {}, {} as ToolContext));
  await shared.get();
  await expect(list()).rejects.toThrow('who are you');
  expect([log.splice(0), shared.waitMs, shared.listWaitMs]).toEqual([['open c1'], 0, 1_000]);
  await expect(list()).rejects.toThrow('who are you');
  expect([log.splice(0), shared.waitMs, shared.listWaitMs]).toEqual([['open c2', 'close c2'], 0, 2_000]);
  isForgotten = false;
  await expect(list()).resolves.toEqual({ tools: [] });
  expect([log.splice(0), shared.listWaitMs]).toEqual([['open c3'], 0]);
  answers[0]?.('done');
  await expect(call).resolves.toBe('done');
  expect(log.splice(0)).toEqual(['close c1']);
  await shared.close();
});
