import { expect, it } from '@jest/globals';
import type { Batch, Schedule, Steered } from '#contracts';
import { Agent } from '../../support/agent.js';
import { TEST_KEY } from '../../support/test-cluster.js';

const ACME = 'safety-acme';
const ACME_KEY = 'key-of-acme-of-the-safety-tests';
const ACME_SECRET = 'what only acme keeps to itself';

/** Settings of the config file: a tenant with secrets of its own. */
export const TENANT_SETTINGS = {
  keys: [{ id: 'acme', key: ACME_KEY, tenant: ACME, scopes: ['submit', 'read', 'cancel', 'admin'] }],
  tenants: { [ACME]: { safety: { redaction: { values: [ACME_SECRET], names: ['recipe'] } } } },
};

/** `general`: two secrets of all tenants. */
export function itAddsSettingsOfATenant(url: () => string, general: readonly [string, string]): void {
  it('adds the redaction settings of a tenant to the general ones everywhere that its content is redacted', async () => {
    const encoded = Buffer.from(`${ACME_SECRET}, ${general[0]}`).toString('base64');
    const says = { command: `echo '${encoded}' | base64 -d; : '${ACME_SECRET}' ${general[1]} --recipe=sugar-and-salt` };
    const sessionId = 'acme-session';
    const shownTo = async (key: string) => {
      const user = new Agent(url(), key);
      const call = await user.run('shell', says, { sessionId, toolCallId: `by ${ACME_SECRET}` });
      const calls = [{ tool: 'sleep', arguments: { ms: 60_000 }, labels: { of: ACME_SECRET } }];
      const batch = (await user.request<Batch>('POST', '/v1/batches', { calls })).body;
      const steered = (await user.request<Steered>('POST', `/v1/sessions/${sessionId}/steer`, { message: ACME_SECRET })).body;
      const stopped = (await user.request<Batch>('POST', `/v1/batches/${batch.id}/cancel`, { reason: ACME_SECRET })).body;
      const schedule = { cron: '0 0 1 1 *', call: { tool: 'echo', arguments: { text: ACME_SECRET } } };
      const { body: planned } = await user.request<Schedule>('POST', '/v1/schedules', schedule);
      return [call, await user.events(call.id), steered, stopped, planned].map((it) => JSON.stringify(it));
    };
    const [acme, others] = [await shownTo(ACME_KEY), await shownTo(TEST_KEY)];
    expect(acme.map((text) => [text.includes(ACME_SECRET), text.includes('[REDACTED]')])).toEqual(acme.map(() => [false, true]));
    expect(others.filter((text) => !text.includes(ACME_SECRET))).toEqual([]);
    expect([...acme, ...others].filter((text) => general.some((secret) => text.includes(secret)))).toEqual([]);
    expect([acme.join('').includes('sugar-and-salt'), others.join('').includes('sugar-and-salt')]).toEqual([false, true]);
    expect(JSON.parse(acme[0] ?? '')).toMatchObject({ result: { content: [{ text: '[REDACTED], [REDACTED]' }] } });
  });
}
