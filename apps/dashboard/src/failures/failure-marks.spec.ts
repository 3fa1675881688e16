import { describe, expect, it } from '@jest/globals';
import { markOf, mayReplayHelp } from './failure-marks.js';

const HOUR_MS = 3_600_000;
const at = (hour: number) => new Date(hour * HOUR_MS).toISOString();

describe('a group of failures', () => {
  it('marks a group of failures as new without an earlier one, and as back after an absence as long as the period', () => {
    expect(markOf({ firstSeen: at(50) }, 24 * HOUR_MS)).toBe('new');
    expect(markOf({ firstSeen: at(50), previousSeen: at(26) }, 24 * HOUR_MS)).toBe('back');
    expect(markOf({ firstSeen: at(50), previousSeen: at(27) }, 24 * HOUR_MS)).toBeUndefined();
  });

  it('offers no replay for failures that the same arguments would repeat', () => {
    expect([mayReplayHelp('invalid_arguments'), mayReplayHelp('tool_failed'), mayReplayHelp(undefined)]).toEqual([false, true, true]);
  });
});
