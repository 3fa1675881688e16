import { afterEach, expect, it, jest } from '@jest/globals';
import { limitRepeatedErrors } from './repeated-errors.js';

afterEach(() => void jest.restoreAllMocks());

it('logs an error at once, its repetitions after 30 s as a number, and other errors by themselves', () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000);
  const lines: string[] = [];
  const onError = limitRepeatedErrors(({ err, repeats }) => lines.push(`${err.message} ${repeats ?? '-'}`));
  for (let n = 0; n < 3; n++) onError(new Error('full'));
  onError(new Error('other'));
  expect(lines).toEqual(['full -', 'other -']);
  clock.mockReturnValue(31_000);
  for (let n = 0; n < 2; n++) onError(new Error('full'));
  expect(lines.slice(2)).toEqual(['full 2']);
  clock.mockReturnValue(100_000);
  onError(new Error('other'));
  expect(lines.slice(3)).toEqual(['other -']);
});

it('logs once that repeated errors are over, with their number, and a later error at once', () => {
  const lines: string[] = [];
  const onError = limitRepeatedErrors(
    ({ err, repeats }) => lines.push(`${err.message} ${repeats ?? '-'}`),
    ({ errors }) => lines.push(`over after ${errors}`),
  );
  onError.over();
  for (let n = 0; n < 7; n++) onError(new Error('away'));
  onError(new Error('loading'));
  for (let n = 0; n < 3; n++) onError.over();
  onError(new Error('away'));
  expect(lines).toEqual(['away -', 'loading -', 'over after 8', 'away -']);
});
