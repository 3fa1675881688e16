import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ToolAvailabilityService } from './tool-availability.service.js';
import { WorkerLivenessMonitor } from './worker-liveness-monitor.service.js';

const LOOKS_MS = 60_000;
const log = { debug: () => {} } as never;

/** Answers that the test releases in any order. */
function held<T>() {
  const waiting: ((value: T) => void)[] = [];
  return { waiting, ask: () => new Promise<T>((resolve) => waiting.push(resolve)) };
}

describe('a look at the workers that takes longer than the time between two', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('runs no second check during a slow one, which would report the same worker twice', async () => {
    const { waiting, ask } = held<string[]>();
    const announced: string[] = [];
    const ofWorker = (id: string) => Promise.resolve(void announced.push(id));
    const registry = { expired: (ids: string[]) => Promise.resolve(ids) };
    const monitor = new WorkerLivenessMonitor(registry as never, { announcedWorkers: ask, ofWorker } as never, { name: 'g' }, log);
    monitor.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(LOOKS_MS);
    expect(waiting).toHaveLength(1);
    for (const answer of waiting.splice(0)) answer(['w1']);
    await jest.advanceTimersByTimeAsync(0);
    expect(announced).toEqual(['w1']);
    await jest.advanceTimersByTimeAsync(LOOKS_MS);
    expect(waiting).toHaveLength(1);
    monitor.onApplicationShutdown();
  });

  it('keeps the result of a later check when an earlier one ends after it', async () => {
    const { waiting, ask } = held<object[]>();
    const availability = new ToolAvailabilityService({ all: ask } as never, log, {});
    const worker = (slots: number) => ({ draining: false, pools: [{ pool: 'read', slots }] });
    const looks = [availability.refresh(), availability.refresh()];
    waiting[1]?.([worker(2), worker(2)]);
    waiting[0]?.([]);
    await Promise.all(looks);
    expect(availability.slotsOf('read')).toBe(4);
  });
});
