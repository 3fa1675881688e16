import { describe, expect, it } from '@jest/globals';
import { answerOf } from './answer.js';

describe('the answer of a person to a call', () => {
  it.each([
    ['y', 'allow'],
    ['Y', 'allow'],
    ['allow', 'allow'],
    ['a', 'always'],
    ['A', 'always'],
    ['n', 'deny'],
    ['N', 'deny'],
    ['d', 'deny'],
    ['v', 'never'],
    ['never', 'never'],
    ['e', 'edit'],
    ['l', 'skip'],
    ['s', 'skip'],
    ['q', 'quit'],
    ['Always', 'always'],
    ['NO', 'deny'],
  ])('reads the answer %s as %s', (text, answer) => expect(answerOf(text)).toBe(answer));

  it.each(['', 'Y ', 'ne', 'yess', '1', 'constructor', '__proto__'])('reads the answer %j as no answer', (text) =>
    expect(answerOf(text)).toBeUndefined(),
  );

  it('reads nine letters as answers in either case, and no other letter', () => {
    const answered = (letters: string) =>
      letters
        .split('')
        .filter((letter) => answerOf(letter) !== undefined)
        .join('');
    expect(answered('abcdefghijklmnopqrstuvwxyz')).toBe('adelnqsvy');
    expect(answered('ABCDEFGHIJKLMNOPQRSTUVWXYZ')).toBe('ADELNQSVY');
    for (const letter of 'adelnqsvy') expect(answerOf(letter.toUpperCase())).toBe(answerOf(letter));
  });
});
