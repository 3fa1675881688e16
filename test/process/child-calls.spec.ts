import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { CallEvent } from '#contracts';
import { CallStore } from '#event-log';
import { ChildCallService } from '../../apps/gateway/src/calls/admission/child-call.service.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

/** Parts of a gateway are watched, or fail. All else is in test/api/child-calls.spec.ts. */
describe('a call that another call makes', () => {
  let gateway: TestGateway;
  beforeAll(async () => void (gateway = await startTestGateway('e2e-children')));
  afterAll(() => gateway.close());

  const child = (parentCallId: string) => gateway.agent.submit('echo', {}, { parentCallId });

  it('reads one event of its parent for a child call, for any number of events', async () => {
    const { body: parent } = await gateway.agent.submit('sleep', { duration_ms: 60_000 });
    const attempt = await gateway.claim(parent.id);
    for (let n = 0; n < 10; n++) await attempt.update(`update ${n}`);
    const reads = jest.spyOn(CallStore.prototype, 'events');
    try {
      expect((await child(parent.id)).status).toBe(202);
      const counts = reads.mock.calls.flatMap(([callId], n) =>
        callId === parent.id ? [Promise.resolve(reads.mock.results[n]?.value as CallEvent[])] : [],
      );
      expect((await Promise.all(counts)).map((events) => events.length)).toEqual([1]);
    } finally {
      reads.mockRestore();
    }
  });

  it('keeps an accepted child call if its parent cannot be read', async () => {
    const { body: root } = await gateway.agent.submit('echo', {});
    await gateway.claim(root.id);
    const look = jest.spyOn(ChildCallService.prototype, 'isParentTerminal').mockRejectedValueOnce(new Error('Redis went away'));
    const { status, body } = await child(root.id);
    expect([status, body.status, look.mock.calls.length]).toEqual([202, 'queued', 1]);
    look.mockRestore();
  });
});
