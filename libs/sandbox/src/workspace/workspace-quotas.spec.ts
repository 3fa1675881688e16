import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FolderMeasurer } from './measure-folder.js';
import { WorkspaceQuotas } from './workspace-quotas.js';

const home = mkdtempSync(join(tmpdir(), 'quotas-'));
const tenant = join(home, 'tenant');
const root = join(tenant, 'one');
const put = (from: number, to: number): void => {
  for (let n = from; n < to; n += 1) writeFileSync(join(root, `file-${n}`), '');
};

const opened: (() => Promise<void>)[] = [];
const newMeasurer = (): FolderMeasurer => {
  const measurer = new FolderMeasurer();
  opened.push(() => measurer.endThread());
  return measurer;
};

beforeEach(() => {
  rmSync(tenant, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
});
afterEach(() => Promise.all(opened.splice(0).map((close) => close())));
afterAll(() => rmSync(home, { recursive: true }));

describe('the limit on files, for commands', () => {
  const quota = () => {
    const limit = { bytes: Infinity, files: 10 };
    const quotas = new WorkspaceQuotas({ workspace: limit, tenant: { bytes: Infinity, files: Infinity } });
    opened.push(() => quotas.close());
    return quotas.of(root, tenant);
  };
  const failure = { code: 'quota_exceeded', message: expect.stringContaining('of 10 files') };

  it('stops a running command at the limit on files', async () => {
    const it = quota();
    expect(await it.remaining()).toMatchObject({ files: 10 });
    put(0, 10);
    expect((await it.measure(0)).failure).toBeUndefined();
    put(10, 11);
    expect((await it.measure(0)).failure).toMatchObject(failure);
  });

  it('lets a command delete files beyond the limit, and add none', async () => {
    put(0, 12);
    const it = quota();
    expect(await it.remaining()).toMatchObject({ files: -2 });
    expect((await it.measure(2)).failure).toBeUndefined();
    put(12, 13);
    expect((await it.measure(2)).failure).toMatchObject(failure);
  });

  it('refuses every command at twice the limit of files', async () => {
    put(0, 20);
    await expect(quota().remaining()).rejects.toMatchObject(failure);
  });
});

it('remembers the most recently used folders', async () => {
  // A folder is measured again after seconds, which a slow machine may need for this test: time stands still.
  const clock = jest.spyOn(performance, 'now').mockReturnValue(1);
  const measure = jest.spyOn(FolderMeasurer.prototype, 'measure').mockResolvedValue({ bytes: 0, files: 0 });
  const limit = { bytes: Infinity, files: Infinity };
  const quotas = new WorkspaceQuotas({ workspace: limit, tenant: limit });
  for (let n = 0; n < 5_000; n += 1) await quotas.of(`${tenant}/${n}`, tenant).remaining();
  expect(measure.mock.calls.filter(([path]) => path === tenant)).toHaveLength(1);
  measure.mockRestore();
  clock.mockRestore();
});

describe('measuring a folder', () => {
  it('stops counting a folder at the given number of files', async () => {
    put(0, 50);
    expect(await newMeasurer().measure(root, 10)).toMatchObject({ files: 11 });
    expect(await newMeasurer().measure(root)).toMatchObject({ files: 50 });
  });

  it('asks again for the other folders when one ends the thread', async () => {
    put(0, 3);
    const measurer = newMeasurer();
    const asked = [measurer.measure(join(tenant, 'x')), measurer.measure(root)];
    await measurer.endThread();
    const [first, second] = await Promise.allSettled(asked);
    expect([first?.status, second]).toEqual(['rejected', { status: 'fulfilled', value: expect.objectContaining({ files: 3 }) }]);
  });
});
