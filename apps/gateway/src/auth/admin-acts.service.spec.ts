import { describe, expect, it } from '@jest/globals';
import type { Principal } from '#contracts';
import { AdminActs } from './admin-acts.service.js';

const principal: Principal = { keyId: 'k', tenantId: 'acme', scopes: ['admin'], agents: ['*'] };

describe('acts of a tenant that makes too many', () => {
  const parts: unknown[] = [{}, {}, {}, { checkAct: () => {} }, { name: 'g', partitions: 1, tenantActsPerMinute: 3 }, {}];
  const acts = new AdminActs(...(parts as ConstructorParameters<typeof AdminActs>));
  const change = () => acts.admit(principal, { revokes: false });

  it('refuses acts of a tenant that makes too many, not those of other tenants and what revokes rights', () => {
    for (let n = 0; n < 3; n += 1) change();
    expect(change).toThrow('TENANT_ACTS_PER_MINUTE');
    acts.admit({ ...principal, tenantId: 'globex' }, { revokes: false });
    acts.admit(principal, { revokes: true });
  });

  it('refuses acts that revoke, too, when those alone are too many', () => {
    const revoke = () => acts.admit({ ...principal, tenantId: 'initech' }, { revokes: true });
    for (let n = 0; n < 3; n += 1) revoke();
    expect(revoke).toThrow('TENANT_ACTS_PER_MINUTE');
  });
});
