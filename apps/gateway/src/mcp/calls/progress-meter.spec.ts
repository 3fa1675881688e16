import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CallEvent } from '#contracts';
import { ProgressMeter } from './progress-meter.js';

const event = (type: string, data: object) => ({ type, data }) as CallEvent;
const progress = (done?: number, total?: number) => event('call.progress', { done, total });

describe('ProgressMeter', () => {
  it('passes on the progress of a tool unchanged, also from 0', () => {
    const meter = new ProgressMeter();
    const events = [event('call.start', { tool: 't' }), progress(0, 100), progress(50, 100), progress(100, 100)];
    expect(events.map((it) => meter.stepOf(it))).toEqual([
      undefined,
      { progress: 0, total: 100 },
      { progress: 50, total: 100 },
      { progress: 100, total: 100 },
    ]);
  });

  it('reports that a waiting call has begun to run', () => {
    const meter = new ProgressMeter();
    meter.waiting('10 s');
    expect(meter.stepOf(event('call.start', { tool: 't' }))?.message).toBe('t runs');
  });

  it('reports increasing progress for any progress of a tool', () => {
    const anyEvent = fc.oneof(
      fc.tuple(fc.option(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), { nil: undefined }), fc.option(fc.nat(), { nil: undefined })),
      fc.constant('retry' as const),
    );
    fc.assert(
      fc.property(fc.array(anyEvent), (events) => {
        const meter = new ProgressMeter();
        const numbers = events
          .map((it) => meter.stepOf(it === 'retry' ? event('call.retry', { reason: 'worker_lost' }) : progress(...it)))
          .map((step) => step?.progress ?? Number.NaN);
        for (const [index, number] of numbers.entries()) expect(number).toBeGreaterThan(numbers[index - 1] ?? -Infinity);
      }),
    );
  });
});
