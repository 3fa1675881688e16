import { expect, it } from '@jest/globals';
import { errorText } from './error-text.js';

it('names the code of a failure once', () => {
  expect(errorText({ code: 'tool_failed', message: 'File not found: a.txt' })).toBe('tool_failed: File not found: a.txt');
  expect(errorText({ code: 'cancelled', message: 'Cancelled: Ctrl-C' })).toBe('Cancelled: Ctrl-C');
});
