import { describe, expect, it } from '@jest/globals';
import type { Principal } from '#contracts';
import { AdminActs } from './admin-acts.service.js';

const principal: Principal = { keyId: 'k', tenantId: 'acme', scopes: ['admin'], agents: ['*'] };

describe('acts of a tenant that makes too many', () => {
  const parts: unknown[] = [{}, {}, {}, { checkAct: () => {} }, { name: 'g', partitions: 1, tenantActsPerMinute: 3 }, {}];
  const acts = new AdminActs(...(parts as ConstructorParameters<typeof AdminActs>));
  const change = () => acts.admit(principal, { revokes: false });

  it('limits the acts of a tenant without limiting other tenants or the revocation of rights', () => {
    for (let n = 0; n < 3; n += 1) change();
    expect(change).toThrow('TENANT_ACTS_PER_MINUTE');
    acts.admit({ ...principal, tenantId: 'globex' }, { revokes: false });
    acts.admit(principal, { revokes: true });
  });

  it('limits acts that revoke rights by a limit of their own', () => {
    const revoke = () => acts.admit({ ...principal, tenantId: 'initech' }, { revokes: true });
    for (let n = 0; n < 3; n += 1) revoke();
    expect(revoke).toThrow('TENANT_ACTS_PER_MINUTE');
  });
});
