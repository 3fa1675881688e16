import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from './json-value.js';
import { maskSecrets } from './placeholders.js';
import { Redactor } from './redactor.js';

const redactor = Redactor.of();
const body = fc.string({ unit: fc.constantFrom(...'abcdefghijkLMNOPQRSTU0123456789'.split('')), minLength: 36, maxLength: 36 });
const token = body.map((text) => `ghp_${text}`);
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  token,
  body.map((secret) => `login --password=q7${secret} --verbose`),
);
const key = fc.oneof(
  fc.string({ maxLength: 8 }).filter((name) => name !== '__proto__'),
  token,
  fc.constantFrom('password', '[REDACTED]', '123456'),
);
const json = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('json')), { maxLength: 4 }).map((fields) => Object.fromEntries(fields)),
  ),
})).json;
const GITHUB = 'ghp_q7a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7';

describe('placeholders', () => {
  it('that come back unchanged at their paths mean the original value, texts and keys alike', () => {
    fc.assert(
      fc.property(json, (value) => {
        const { masked: shown, restore } = maskSecrets(redactor, value);
        expect(JSON.stringify(shown)).not.toMatch(/ghp_[A-Za-z0-9]{36}|password=q7/);
        expect(restore(JSON.parse(JSON.stringify(shown)) as Json)).toEqual({ ok: true, value });
      }),
      { numRuns: 500 },
    );
  });

  it('are refused at every path where no secret was', () => {
    const { restore } = maskSecrets(redactor, { login: { password: 'hunter2x' }, list: [GITHUB, 'b'], [GITHUB]: 1, 'a/b': 1 });
    const refused: readonly (readonly [Json, string])[] = [
      [{ other: '[REDACTED]' }, '/other'],
      [{ login: '[REDACTED]' }, '/login'],
      [{ login: { user: '[REDACTED]' } }, '/login/user'],
      [{ login: { password: 'x [REDACTED]' } }, '/login/password'],
      [{ list: ['b', '[REDACTED]'] }, '/list/1'],
      [{ login: { '[REDACTED]': 1 } }, '/login/[REDACTED]'],
      [{ 'a/b': '[REDACTED]' }, '/a~1b'],
      ['[REDACTED]', ''],
    ];
    for (const [answer, pointer] of refused) expect(restore(answer)).toEqual({ ok: false, pointer });
    expect(restore({ list: ['[REDACTED]', 'c'], '[REDACTED]': 2, login: { password: 'mine' } })).toEqual({
      ok: true,
      value: { list: [GITHUB, 'c'], [GITHUB]: 2, login: { password: 'mine' } },
    });
  });

  it('leave a value without secrets the very same', () => {
    const value = { text: 'a\u200bb' };
    expect(maskSecrets(redactor, value).masked).toBe(value);
  });
});

describe('a secret as a key', () => {
  it('is taken out, at any depth, and keys that become alike stay apart', () => {
    const other = GITHUB.replaceAll('q7', 'x9');
    const { value, secrets } = redactor.json({ a: [{ [GITHUB]: 1, [other]: 2, plain: 3 }] });
    expect(value).toEqual({ a: [{ '[REDACTED]': 1, '[REDACTED] (2)': 2, plain: 3 }] });
    expect(secrets).toEqual([GITHUB, other]);
    expect(redactor.json({ [`x ghp_\u200b${GITHUB.slice(4)} y`]: 1 }).value).toEqual({ 'x [REDACTED] y': 1 });
  });
});
