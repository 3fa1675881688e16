import { expect, it } from '@jest/globals';
import type { Problem, UsagePage } from '#contracts';
import { Agent } from '../../support/agent.js';
import { startCli } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import type { TestGateway } from '../../support/gateway.js';

interface Installation {
  readonly gateway: TestGateway;
  readonly agent: Agent;
  /** Agent of another tenant. */
  readonly stranger: Agent;
}

/** Usage over tenants. Needs the keys of the operator, and of the judge, who operates nothing. */
export function tenantUsageContract(installation: () => Installation): void {
  it('sums the usage of tenants for a key that operates the installation, and for no other', async () => {
    const { gateway, agent, stranger } = installation();
    const operator = new Agent(gateway.url, 'key-of-the-operator');
    for (const [by, count] of [[agent, 2] as const, [stranger, 1] as const])
      for (let n = 0; n < count; n += 1)
        await gateway.run((await by.submit('sleep', { duration_ms: 1 }, { sessionId: 'by-tenant' })).body.id, 'x');
    const used = (by: Agent) => by.get<UsagePage & Problem>('/v1/usage?by=tenant&tool=sleep');
    const { rows } = await eventually(async () => {
      const { body } = await used(operator);
      return body.behind === undefined && body.rows.reduce((sum, { calls }) => sum + calls, 0) === 3 ? body : undefined;
    }, 'the calls to be in the rows');
    const of = (tenant: string) => rows.filter(({ tenantId }) => tenantId === tenant).reduce((sum, { calls }) => sum + calls, 0);
    expect([of('queries'), of('stranger')]).toEqual([2, 1]);
    for (const refused of [new Agent(gateway.url, 'key-of-the-judge'), stranger])
      expect(await used(refused)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const words = ['usage', '--by', 'tenant', '--tool', 'sleep', '--csv', '--per', 'day'];
    const { out } = await startCli(words, { url: gateway.url, env: { TOOLYARD_API_KEY: 'key-of-the-operator' } }).ended();
    for (const [tenant, count] of [
      ['queries', 2],
      ['stranger', 1],
    ])
      expect(out).toMatch(new RegExp(`^${tenant},\\S+Z,,,${count},`, 'm'));
  });
}
