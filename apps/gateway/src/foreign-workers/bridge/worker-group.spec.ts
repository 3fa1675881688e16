import { expect, it } from '@jest/globals';
import type { ConnectedWorker } from './connected-worker.js';
import type { WorkerAnnouncer } from './worker-announcer.service.js';
import { WorkerGroup } from './worker-group.js';

it('announces changed tools of foreign workers once for all concurrent changes', async () => {
  const announced: number[] = [];
  let count = 0;
  const announce = async (_id: unknown, tools: readonly unknown[]) => {
    announced.push(tools.length);
    await new Promise((resolve) => setImmediate(resolve));
    return { tools: [], problems: [] };
  };
  const group = new WorkerGroup({ tenantId: 't', name: 'w' }, { announce } as unknown as WorkerAnnouncer, () => {
    throw new Error('no pool has tools');
  });
  const offered = () => Array.from({ length: count }, (_unused, index) => ({ name: `t${index}` }));
  group.workers.add({ offered } as unknown as ConnectedWorker);
  const changes: Promise<unknown>[] = [];
  for (let change = 1; change <= 100; change += 1) {
    count = change;
    changes.push(group.announce());
    // The first one is under way before the others come.
    if (change === 1) await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(changes);
  expect(announced).toEqual([1, 100]);
});

it('announces the tools of a new foreign worker after the withdrawal of its predecessor', async () => {
  const steps: string[] = [];
  let withdrawn = () => {};
  const announce = async () => {
    steps.push('announced');
    return { tools: [], problems: [] };
  };
  const leave = async () => {
    steps.push('withdrawing');
    await new Promise<void>((resolve) => (withdrawn = resolve));
    steps.push('withdrawn');
  };
  const group = new WorkerGroup({ tenantId: 't', name: 'w' }, { announce, leave } as unknown as WorkerAnnouncer, () => {
    throw new Error('no pool has tools');
  });
  const left = group.leave();
  await new Promise((resolve) => setImmediate(resolve));
  group.workers.add({ offered: () => [] } as unknown as ConnectedWorker);
  const announced = group.announce();
  const second = group.leave();
  await new Promise((resolve) => setImmediate(resolve));
  withdrawn();
  await Promise.all([left, announced, second]);
  expect(steps).toEqual(['withdrawing', 'withdrawn', 'announced']);
});
