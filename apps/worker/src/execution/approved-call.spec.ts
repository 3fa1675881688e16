import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SubmittedData } from '#contracts';
import { approvalDigest } from '#policy';
import { WorkerParts } from '../../../../test/support/worker-parts.js';
import { executeCall } from './execute-call.js';
import type { ExecuteDeps } from './execute-deps.js';

const ASKED: Pick<SubmittedData, 'decision'> = { decision: { effect: 'ask', reasons: [] } };

describe('a call that had to be approved', () => {
  let parts: WorkerParts;
  let worker: ExecuteDeps;
  let ran: unknown[];
  beforeAll(async () => {
    parts = await WorkerParts.start();
    worker = parts.worker();
    parts.tool('careful', { run: (args) => String(ran.push(args)) });
  });
  afterAll(() => parts.close());

  const version = () => parts.tools.get('careful')?.tool.version ?? '';
  const digest = (args: object) => approvalDigest('careful', version(), args);
  const run = async (args: Record<string, string>, more: Partial<SubmittedData>) => {
    ran = [];
    const callId = await parts.submit('careful', args, { ...ASKED, ...more });
    await executeCall({ callId, attempt: 1 }, 'read', worker);
    return parts.store.read(callId);
  };

  it('runs when tool, version and arguments are the ones that were approved, however their keys are ordered', async () => {
    expect(await run({ b: '2', a: '1' }, { argumentsDigest: digest({ a: '1', b: '2' }) })).toMatchObject({ outcome: 'completed' });
    expect(ran).toHaveLength(1);
  });

  it('is denied when one byte of its arguments is another one', async () => {
    const call = await run({ path: 'b' }, { argumentsDigest: digest({ path: 'a' }) });
    expect(call).toMatchObject({ outcome: 'denied', error: { code: 'approval_denied', message: expect.stringContaining('arguments') } });
    expect(ran).toEqual([]);
  });

  it('is denied when its tool has changed since', async () => {
    const call = await run({}, { toolVersion: 'older', argumentsDigest: approvalDigest('careful', 'older', {}) });
    expect(call).toMatchObject({ outcome: 'denied', error: { code: 'approval_denied', message: expect.stringContaining('has changed') } });
    expect(ran).toEqual([]);
  });
});
