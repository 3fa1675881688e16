import { expect, it } from '@jest/globals';
import { trustMeaning } from './trust-meaning.js';

it.each([
  ['git push', { allowedCommands: ['^(?:git push)$'] }, 'Exactly this command, and nothing else.'],
  [
    'git *',
    { allowedCommands: ['^git( .*)?$'] },
    'Every command that begins with git, whatever words follow. Files outside of the workspace are asked for.',
  ],
  ['/w/a', { allowedPaths: { read: ['/w/a'] } }, 'Allows reading there, with everything below if it is a folder.'],
  [
    '/w/a',
    { allowedPaths: { read: ['/w/a'], write: ['/w/a'] } },
    'Allows writing and reading there, with everything below if it is a folder.',
  ],
  ['shell', { trustedTools: ['shell'] }, 'Every call of shell, with any arguments.'],
])('describes the trust %j as %j', (display, grants, meaning) => {
  expect(trustMeaning({ display, grants })).toBe(meaning);
});
