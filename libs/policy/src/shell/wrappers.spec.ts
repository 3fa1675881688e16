import { describe, expect, it } from '@jest/globals';
import { findDangerousCommand } from './dangerous-command.js';
import { findDestructiveCommand } from './destructive-command.js';
import { parseCommand } from './parse-command.js';
import { isReadonly } from './readonly.js';
import { plainText } from './sub-command.js';

describe('xargs', () => {
  it.each([
    'echo touch x | xargs',
    'echo touch x | xargs nice',
    'echo 5 touch x | xargs timeout',
    'echo touch x | xargs xargs',
    'echo -- x | xargs nice rg',
    'ls | xargs timeout 5 sort f',
    'ls | xargs ./cat',
    'ls | xargs touch',
    'ls | xargs git -C x log --',
    'ls | xargs env cat',
    'ls | xargs -I cat cat x',
    'ls | xargs -icat cat x',
    'ls | xargs -I {} {} x',
    'ls | xargs --process-slot-var=PATH cat',
    'ls | parallel cat',
  ])('rates xargs as dangerous if its program may do more than read: %s', (source) => {
    expect(findDangerousCommand(parseCommand(source))).toBeDefined();
    expect(isReadonly(parseCommand(source))).toBe(false);
  });

  it.each([
    'ls | xargs cat',
    'ls | xargs -0rn 1 grep x',
    'ls | xargs -I{} head -3 {}',
    'ls | xargs nice -n 5 timeout 5 wc -l',
    'ls | xargs git log --',
    'ls | xargs --max-args=1 rg x --',
  ])('treats xargs as reading if its program only reads for any arguments: %s', (source) =>
    expect(findDangerousCommand(parseCommand(source))).toBeUndefined(),
  );
});

describe('a command that runs another one', () => {
  it.each([
    ['xargs --delimiter [ touch p', 'touch p'],
    ['xargs -rd [ touch p', 'touch p'],
    ['xargs -tI ls touch ls', 'touch ls'],
    ['xargs --process-slot-var ls touch p', 'touch p'],
    ['nice time --format ls touch p', 'touch p'],
    ['nice -n5 touch p', 'touch p'],
    ['timeout --signal KILL 5 touch p', 'touch p'],
    ["script -qc'touch p' /dev/null", 'touch p'],
    ["script -qc 'touch p' /dev/null", 'touch p'],
    ["script --command='touch p'", 'touch p'],
    ["script --comm 'touch p'", 'touch p'],
    ["su root -c'touch p'", 'touch p'],
    ["su --command='touch p'", 'touch p'],
    ["su - root --session-comm='touch p'", 'touch p'],
    ["su -lc 'touch p' root", 'touch p'],
    ["runuser -l x -c 'touch p'", 'touch p'],
    ['runuser -u x -- touch p', 'touch p'],
    ['runuser -u x touch p', 'touch p'],
    ['runuser --user=x -- touch p', 'touch p'],
  ])('parses a wrapping command with the values of its options: %s', (source, inner) => {
    expect(parseCommand(source).commands.map(plainText)).toContain(inner);
    expect(isReadonly(parseCommand(source))).toBe(false);
  });

  it('sees a machine destroyed behind a cluster of letters', () =>
    expect(findDestructiveCommand(parseCommand('xargs -tI ls rm -rf /'))).toBeDefined());

  it.each(['nice --adjust 5 ls', '/usr/bin/time --form x ls', 'timeout -q 5 ls', 'nice -n $x ls', 'flock f -c ls', 'env -iS "ls x"'])(
    'rates a wrapping command with an unknown option as dangerous: %s',
    (source) => expect(findDangerousCommand(parseCommand(source))).toBeDefined(),
  );
});
