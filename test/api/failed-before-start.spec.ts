import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

let tenant: Tenant;
beforeAll(async () => {
  const guard = { name: 'guard', on: 'before' as const, command: 'echo not on a Friday >&2; exit 2' };
  tenant = await useTenant('failed-before-start', { settings: { agents: { guarded: { hooks: [guard] } } } });
});
afterAll(() => tenant?.close());

it('ends a call that fails before it runs without a Start, with its reason and text in the End [EV-08]', async () => {
  const { agent } = tenant;
  await agent.request('PUT', '/v1/sessions/read-only', { posture: { permissionMode: 'read-only' } });
  const refused = await Promise.all([
    agent.submit('shell', '{"command":'),
    agent.submit('shell', { command: 'date' }, { sessionId: 'read-only' }),
    agent.submit('echo', {}, { agentId: 'guarded' }),
  ]);
  const callIds = refused.map(({ body }) => (body as { callId?: string }).callId ?? '');
  const events = await Promise.all(callIds.map((id) => agent.events(id)));
  expect(events.flat().map(({ type }) => type)).not.toContain('call.start');
  const ends = events.flat().flatMap((it) => (it.type === 'call.end' ? [it.data] : []));
  expect(ends.map(({ outcome, error }) => [outcome, error?.code, error?.message])).toEqual([
    ['failed', 'invalid_arguments', expect.stringMatching(/JSON/)],
    ['denied', 'policy_denied', expect.stringMatching(/read-only/)],
    ['denied', 'hook_rejected', expect.stringContaining('not on a Friday')],
  ]);
});
