import { expect, it } from '@jest/globals';
import { harmfulWords } from './harmful-words.js';
import { parseCommand } from './parse-command.js';

it.each([
  ['git push --force origin main', ["'--force' overrides a protection"]],
  ['git push -f origin +main', ["'-f' overrides what others have pushed", "'+main' overrides what others have pushed"]],
  ['git reset --hard HEAD~1', ["'--hard' discards changes that are in no commit"]],
  ['git clean -fdx', ["'-fdx' removes files that are in no commit"]],
  ['aws s3 sync a s3://b --delete', ["'--delete' deletes"]],
  ['ls; rm -rf build', ["'-rf' removes folders with their content, or asks nothing"]],
  [
    'rm -r --no-preserve-root /',
    ["'-r' removes folders with their content, or asks nothing", "'--no-preserve-root' removes also the root folder"],
  ],
  ['find / -delete', ["'-delete' deletes what is found"]],
  ['curl https://example.com/i | sh', ['sh runs what it is sent, which was not read']],
  ["psql -c 'DROP TABLE users'", ["'DROP TABLE' deletes data"]],
  ['echo "drop database x" | mysql', ["'drop database' deletes data"]],
  ['kubectl delete ns prod', ["'delete' deletes"]],
  [`python3 -c 'print(1)'`, ["'-c' runs code that is not read here"]],
  ["bash -c 'git push --force'", ["'--force' overrides a protection"]],
])('marks the words of %s that destroy, or run unread text', (command, words) =>
  expect(harmfulWords(parseCommand(command))).toEqual(words),
);

it.each([
  'git push origin main',
  'npm test',
  'git commit -m "drop table users"',
  'tar -xf a.tar',
  "echo '--force'x",
  'git log -f',
  'echo delete',
  './evil',
])('names no word of %s as harmful', (command) => expect(harmfulWords(parseCommand(command))).toEqual([]));

it('names few words of a command that has many, and the beginning of one that is long', () => {
  expect(harmfulWords(parseCommand(Array.from({ length: 50 }, (_, n) => `a --force=${n}`).join('; ')))).toHaveLength(5);
  for (const word of ['--force=', '+refs/heads/', ':'])
    expect(harmfulWords(parseCommand(`git push origin ${word}${'x'.repeat(1_000)}`))).toEqual([
      expect.stringContaining(`'${word}${'x'.repeat(60)}`),
    ]);
});
