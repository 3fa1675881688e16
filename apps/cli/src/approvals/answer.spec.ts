import { describe, expect, it } from '@jest/globals';
import { answerOf } from './answer.js';

describe('the answer of a person to a call', () => {
  it.each([
    ['y', 'allow'],
    ['a', 'allow'],
    ['A', 'always'],
    ['n', 'deny'],
    ['d', 'deny'],
    ['N', 'never'],
    ['e', 'edit'],
    ['l', 'skip'],
    ['s', 'skip'],
    ['q', 'quit'],
    ['Always', 'always'],
    ['NO', 'deny'],
  ])('takes %s as %s', (text, answer) => expect(answerOf(text)).toBe(answer));

  it.each(['', 'Y ', 'D', 'yess', '1', 'constructor', '__proto__'])('takes %j as nothing', (text) =>
    expect(answerOf(text)).toBeUndefined(),
  );
});
