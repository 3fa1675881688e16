import { describe, expect, it } from '@jest/globals';
import { crewPrompt } from './crew-prompt.js';

describe('the prompt of a stage', () => {
  it('inserts the task into the prompt of a stage at each placeholder, unchanged', () => {
    expect(crewPrompt('[before] ', 'Do {task}, only {task}.', 'a $& b')).toBe('[before] Do a $& b, only a $& b.');
    expect(crewPrompt('', 'Do it.', 'a')).toBe('Do it.');
  });

  it('builds a prompt no longer than it may be', () => {
    const prompt = crewPrompt('', '{task}'.repeat(8_000), 'x'.repeat(100_000));
    expect(prompt).toBe('x'.repeat(200_000));
  });
});
