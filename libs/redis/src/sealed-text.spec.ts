import { describe, expect, it } from '@jest/globals';
import { openText, sealText } from './sealed-text.js';

describe('sealed texts', () => {
  const seal = { secret: 'a secret of the tests', purpose: 'tests', boundTo: 'tenant/name' };

  it('decrypts a sealed text only with the same secret, purpose and facts, and reveals nothing of it', () => {
    const sealed = sealText('the text', seal);
    expect(openText(sealed, seal)).toBe('the text');
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('the text');
    for (const other of [{ secret: 'another' }, { purpose: 'other' }, { boundTo: 'other/name' }])
      expect(() => openText(sealed, { ...seal, ...other })).toThrow(/authenticate data/);
  });

  it('refuses a sealed text that was changed or cut off', () => {
    const sealed = sealText('the text', seal);
    const bytes = Buffer.from(sealed, 'base64url');
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
    expect(() => openText(bytes.toString('base64url'), seal)).toThrow(/authenticate data/);
    expect(() => openText(sealed.slice(0, 20), seal)).toThrow(/tag/);
    expect(() => openText('', seal)).toThrow(/initialization vector/i);
  });
});
