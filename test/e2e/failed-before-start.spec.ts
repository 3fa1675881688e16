import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const folder = mkdtempSync(join(tmpdir(), 'toolyard-refusals-'));
let toolyard: TestCluster;
beforeAll(async () => {
  const config = join(folder, 'toolyard.json');
  const guard = { name: 'guard', on: 'before', command: 'echo not on a Friday >&2; exit 2' };
  writeFileSync(config, JSON.stringify({ agents: { guarded: { hooks: [guard] } } }));
  toolyard = await startTestCluster({ workers: 1, env: { TOOLYARD_CONFIG: config } });
});
afterAll(async () => {
  await toolyard?.close();
  rmSync(folder, { recursive: true, force: true });
});

it('a call that fails before it runs ends without a Start, with its reason and text in the End [EV-08]', async () => {
  const agent = new Agent(toolyard.gateways[0]?.url ?? '');
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
