import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { EventLogWriter } from '#event-log';
import { LeaseRenewer } from './lease-renewer.js';
import { LeaseTable } from './lease-table.js';
import { RenewalLoop } from './renewal-loop.js';

type Renew = EventLogWriter['renew'];
const CALL = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';

/** Renewer over a fake log and clocks that the test controls. */
function renewer(renew: Renew, leaseMs = 900, slots = 8) {
  const notifications: string[] = [];
  const leases = new LeaseRenewer(
    slots,
    (table, notify) => {
      const loop = new RenewalLoop({ renew }, table, leaseMs, notify);
      return { close: async () => loop.close() };
    },
    () => notifications.push('failure'),
  );
  const hold = (callId = CALL, fence = 3) =>
    leases.hold(callId, fence, { lost: () => notifications.push('lost'), cancelRequested: () => notifications.push('cancel') });
  return { leases, notifications, hold };
}

describe('LeaseRenewer', () => {
  const open: LeaseRenewer[] = [];
  const start = (...args: Parameters<typeof renewer>) => {
    const parts = renewer(...args);
    open.push(parts.leases);
    return parts;
  };
  beforeEach(() => void jest.useFakeTimers());
  afterEach(async () => {
    jest.useRealTimers();
    await Promise.all(open.splice(0).map((leases) => leases.close()));
  });

  it('renews a lease with its fence repeatedly, but not after its release', async () => {
    const asked: string[] = [];
    const { hold, notifications } = start(async ({ callId, fence, leaseMs }) => {
      asked.push(`${callId} ${fence} ${leaseMs}`);
      return { code: 'OK', cancelRequested: false };
    });
    const release = hold();
    await jest.advanceTimersByTimeAsync(1_800);
    expect(asked.length).toBeGreaterThanOrEqual(3);
    expect(new Set(asked)).toEqual(new Set([`${CALL} 3 900`]));
    release();
    release();
    const other = hold('07-01JZ8C5W3Q4X9R7T2M6K8N0P1W', 1);
    const before = asked.filter((line) => line.startsWith(CALL)).length;
    await jest.advanceTimersByTimeAsync(1_800);
    expect(asked.filter((line) => !line.startsWith(CALL)).length).toBeGreaterThanOrEqual(2);
    expect(asked.filter((line) => line.startsWith(CALL)).length).toBe(before);
    other();
    expect(notifications).toEqual([]);
  });

  it('renews no young lease', async () => {
    let asked = 0;
    const { hold } = start(async () => ((asked += 1), { code: 'OK', cancelRequested: false }), 60_000);
    const table = LeaseTable.ofSize(1);
    table.take(CALL, 1);
    const loop = new RenewalLoop({ renew: async () => ((asked += 1), { code: 'OK', cancelRequested: false }) }, table, 60_000, () => {});
    hold();
    loop.check();
    loop.close();
    expect(asked).toBe(0);
  });

  it('reports at once that another worker owns the call, and that a cancel was requested', async () => {
    const fenced = start(async () => ({ code: 'FENCED', fence: 4 }));
    fenced.hold();
    await jest.advanceTimersByTimeAsync(900);
    expect(fenced.notifications).toContain('lost');
    const cancelled = start(async () => ({ code: 'OK', cancelRequested: true }));
    cancelled.hold();
    await jest.advanceTimersByTimeAsync(900);
    expect(cancelled.notifications).toContain('cancel');
    expect(cancelled.notifications).not.toContain('lost');
  });

  it('reports a lease as lost after two thirds of its length without a renewal', () => {
    const { hold, notifications } = start(() => new Promise(() => {}), 4_500);
    hold();
    jest.advanceTimersByTime(2_999);
    expect(notifications).toEqual([]);
    jest.advanceTimersByTime(500);
    expect(notifications).toContain('lost');
  });

  it('holds as many leases as it has slots, repeatedly', () => {
    const { hold } = start(async () => ({ code: 'OK', cancelRequested: false }), 60_000, 4);
    for (let round = 0; round < 100; round++) {
      const releases = [1, 2, 3, 4].map((fence) => hold(CALL, fence));
      expect(() => hold(CALL, 5)).toThrow('Lease table is full: all 4 slots are held.');
      for (const release of releases) release();
    }
  });
});
