import { describe, expect, it } from '@jest/globals';
import { LoginSettings } from './login.js';

describe('the roles of a login', () => {
  const parse = (roleMap: Record<string, unknown>) =>
    LoginSettings.safeParse({ issuer: 'https://id.example.com', clientId: 'dashboard', roleMap });

  it('keeps the roles of a login in file order, whose first one decides the tenant, or refuses them', () => {
    const [acme, globex] = [
      { tenant: 'acme', scopes: ['read'] },
      { tenant: 'globex', scopes: ['read'] },
    ];
    expect(parse({ admins: acme, '1001': globex }).error?.issues[0]?.message).toContain('whole number');
    expect(parse({ admins: acme, '1001': acme }).success).toBe(true);
    expect(parse({ admins: acme, g1001: globex }).success).toBe(true);
  });
});
