import { describe, expect, it } from '@jest/globals';
import { closestNames } from './suggest.js';

describe('closestNames', () => {
  it.each([
    ['file_raed', ['file_read', 'shell'], ['file_read']],
    ['scr', ['src', 'lib'], ['src']],
    ['scr', ['rcs', 'sr'], ['sr']],
    ['FileRead', ['file_read', 'file_write'], ['file_read']],
    ['abc', ['abc', 'acb', 'abd'], ['abc', 'abd', 'acb']],
    ['', [''], ['']],
    ['shell', ['glob'], []],
  ])('treats two swapped letters as one typing error: %j among %j', (wanted, names, near) => {
    expect(closestNames(wanted, names, 3)).toEqual(near);
  });

  it.each([
    ['timeot', ['timeout_ms', 'purpose'], ['timeout_ms']],
    ['tiemout', ['persistent', 'timeout_ms'], ['timeout_ms']],
    ['reslut', ['result_mode_max'], ['result_mode_max']],
    ['timeot', ['timeout_ms', 'timeout'], ['timeout', 'timeout_ms']],
    ['fil', ['shell'], []],
    ['flie', ['file_read'], []],
    ['memory_shop', ['memory_store', 'todo_write'], ['memory_store']],
    ['constructor', ['cron_add', 'timeout_ms'], []],
  ])('completes the first words of a name: %j among %j', (wanted, names, near) => {
    expect(closestNames(wanted, names, 3)).toEqual(near);
  });
});
