import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { messageTemplate } from './fingerprint.js';

const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
const path = fc.oneof(
  fc
    .tuple(fc.constantFrom('', '/', './', '../'), fc.array(name, { minLength: 2, maxLength: 4 }))
    .map(([root, names]) => root + names.join('/')),
  fc.tuple(name, fc.constantFrom('md', 'ts', 'tar.gz', 'mp4', 'json')).map(([stem, extension]) => `${stem}.${extension}`),
);

describe('the template of a message', () => {
  it('is the same for messages that differ in a path only', () => {
    fc.assert(
      fc.property(path, (any) => {
        expect(messageTemplate(`File not found: ${any}. Use glob (in ${any})`)).toBe('File not found: <path>. Use glob (in <path>)');
      }),
    );
  });

  it('keeps words, also before a full stop, and numbers stay numbers', () => {
    expect(messageTemplate('It ended. Then 3.5 s later, again, at 10.0.0.1:80')).toBe('It ended. Then <n> s later, again, at <n>');
  });
});
