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
  it('restores placeholders that return unchanged at their paths, as values and keys', () => {
    fc.assert(
      fc.property(json, (value) => {
        const { masked: shown, restore } = maskSecrets(redactor, value);
        expect(JSON.stringify(shown)).not.toMatch(/ghp_[A-Za-z0-9]{36}|password=q7/);
        expect(restore(JSON.parse(JSON.stringify(shown)) as Json)).toEqual({ ok: true, value });
      }),
      { numRuns: 500 },
    );
  });

  it('refuses placeholders at paths that had no secret', () => {
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

  it('refuses placeholders in a list unless each item returns unchanged at its index', () => {
    const user = (name: string, password: string) => ({ name, password });
    const { restore } = maskSecrets(redactor, {
      users: [user('ann', 'hunter2x'), user('bob', 'hunter3x')],
      tokens: [GITHUB, 'plain', GITHUB.replaceAll('q7', 'x9')],
    });
    const [R, ann, bob] = ['[REDACTED]', user('ann', '[REDACTED]'), user('bob', '[REDACTED]')];
    const refused: readonly (readonly [Json, string])[] = [
      [{ users: [bob, ann] }, '/users/0/password'],
      [{ users: [bob] }, '/users/0/password'],
      [{ users: [ann] }, '/users/0'],
      [{ users: [ann, user('bob', 'new')] }, '/users/0'],
      [{ users: [ann, ann] }, '/users/1/password'],
      [{ users: [{ ...ann, extra: 1 }, bob] }, '/users/0/password'],
      [{ tokens: [R] }, '/tokens/0'],
      [{ tokens: [R, 'plain'] }, '/tokens/0'],
      [{ tokens: [R, R, 'plain'] }, '/tokens/1'],
      [{ tokens: [R, R] }, '/tokens/1'],
      [{ tokens: ['plain', R] }, '/tokens/1'],
      [{ tokens: [['nested', R], 'plain', R] }, '/tokens/0/1'],
    ];
    for (const [answer, pointer] of refused) expect(restore(answer)).toEqual({ ok: false, pointer });
    expect(restore({ users: [ann, bob, user('eve', 'x')], tokens: ['none', 'of', 'them', 'left'] })).toEqual({
      ok: true,
      value: { users: [user('ann', 'hunter2x'), user('bob', 'hunter3x'), user('eve', 'x')], tokens: ['none', 'of', 'them', 'left'] },
    });
  });

  it('restores no secret of a list at another index, for any removal, move or copy by a hook', () => {
    const secrets = fc.uniqueArray(token, { minLength: 1, maxLength: 4 });
    const moved = fc.array(fc.nat(5), { maxLength: 6 });
    fc.assert(
      fc.property(secrets, moved, (tokens, order) => {
        const items: Json[] = tokens.map((secret, index) => ({ index, secret }));
        const { masked, restore } = maskSecrets(redactor, items);
        const shown = Array.isArray(masked) ? masked : [];
        const result = restore(order.flatMap((index) => shown[index] ?? []));
        if (!result.ok) return;
        for (const item of result.value as { index: number; secret: string }[]) expect(item.secret).toBe(tokens[item.index]);
      }),
      { numRuns: 500 },
    );
  });

  it('leaves a value without secrets the very same', () => {
    const value = { text: 'a\u200bb' };
    expect(maskSecrets(redactor, value).masked).toBe(value);
  });
});

describe('a secret as a key', () => {
  it('removes a secret used as a key, at any depth, and keeps colliding keys apart', () => {
    const other = GITHUB.replaceAll('q7', 'x9');
    const { value, secrets } = redactor.json({ a: [{ [GITHUB]: 1, [other]: 2, plain: 3 }] });
    expect(value).toEqual({ a: [{ '[REDACTED]': 1, '[REDACTED] (2)': 2, plain: 3 }] });
    expect(secrets).toEqual([GITHUB, other]);
    expect(redactor.json({ [`x ghp_\u200b${GITHUB.slice(4)} y`]: 1 }).value).toEqual({ 'x [REDACTED] y': 1 });
  });
});
