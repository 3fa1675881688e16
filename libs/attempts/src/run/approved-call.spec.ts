import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { SubmittedData } from '#contracts';
import { approvalDigest } from '#policy';
import { Tool, type ToolContext } from '#tool-sdk';
import { registryWith } from '../../../../test/support/fixture-tools.js';
import { WorkerParts } from '../../../../test/support/worker-parts.js';
import { executeAttempt } from './execute-attempt.js';
import type { AttemptDependencies } from './attempt-dependencies.js';

const ASKED: Pick<SubmittedData, 'decision'> = { decision: { effect: 'ask', reasons: [] } };

describe('a call that had to be approved', () => {
  let parts: WorkerParts;
  let worker: AttemptDependencies;
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
    await executeAttempt({ callId, attempt: 1 }, 'read', worker);
    return parts.store.read(callId);
  };

  it('runs an approved call if tool, version and arguments match, in any order of keys', async () => {
    expect(await run({ b: '2', a: '1' }, { argumentsDigest: digest({ a: '1', b: '2' }) })).toMatchObject({ outcome: 'completed' });
    expect(ran).toHaveLength(1);
  });

  it('denies an approved call whose arguments differ in one byte', async () => {
    const call = await run({ path: 'b' }, { argumentsDigest: digest({ path: 'a' }) });
    expect(call).toMatchObject({ outcome: 'denied', error: { code: 'approval_denied', message: expect.stringContaining('arguments') } });
    expect(ran).toEqual([]);
  });

  it('denies an approved call when its tool has changed since', async () => {
    const call = await run({}, { toolVersion: 'older', argumentsDigest: approvalDigest('careful', 'older', {}) });
    expect(call).toMatchObject({ outcome: 'denied', error: { code: 'approval_denied', message: expect.stringContaining('has changed') } });
    expect(ran).toEqual([]);
  });
});

describe('a call that was judged', () => {
  let parts: WorkerParts;
  let ran = 0;
  beforeAll(async () => {
    parts = await WorkerParts.start();
    parts.tool('file_write', {
      tier: 'side_effecting',
      subjects: [{ kind: 'path', argument: 'path', access: 'write' }],
      run: () => String(++ran),
    });
  });
  afterAll(() => parts.close());

  const run = async (more: Partial<SubmittedData>) => {
    ran = 0;
    const callId = await parts.submit('file_write', { path: 'a' }, more);
    await executeAttempt({ callId, attempt: 1 }, 'write', parts.worker());
    return parts.store.read(callId);
  };

  it('runs a call with the capability profile and the tier of its decision [PP-41]', async () => {
    expect(await run({ capabilityProfile: 'file_read_write' })).toMatchObject({ outcome: 'completed' });
    expect(await run({})).toMatchObject({ outcome: 'completed' });
    expect(ran).toBe(1);
  });

  const MORE: [Partial<SubmittedData>, string, string][] = [
    [{ capabilityProfile: 'file_read_only' }, 'file_read_only', 'file_read_write'],
    [{ tier: 'read_only' }, 'read_only', 'side_effecting'],
  ];
  it.each(MORE)('refuses a call at a worker whose tool has wider access: %j [PP-41]', async (judged, ...named) => {
    const call = await run(judged);
    expect(call).toMatchObject({ outcome: 'denied', error: { code: 'policy_denied' } });
    for (const name of named) expect(call?.error?.message).toContain(name);
    expect(ran).toBe(0);
  });
});

describe('a tool with a confirm function', () => {
  let parts: WorkerParts;
  beforeAll(async () => {
    parts = await WorkerParts.start();
  });
  afterAll(() => parts.close());

  it('runs a tool after its confirm function returned true, and ends the call as unconfirmed after false [PP-96]', async () => {
    const seen: unknown[] = [];
    @Tool({ name: 'deploy', description: 'Deploys.', input: z.strictObject({ to: z.string() }) })
    class DeployTool {
      async confirm({ to }: { to: string }, { callId }: ToolContext): Promise<boolean> {
        return callId !== '' && to !== 'production';
      }
      run(args: { to: string }): string {
        return `deployed ${String(seen.push(args))}`;
      }
    }
    const registry = await registryWith([DeployTool]);
    const run = async (to: string) => {
      const callId = await parts.submit('deploy', { to }, { tier: 'privileged', effect: 'once' });
      await executeAttempt({ callId, attempt: 1 }, 'shell', { ...parts.worker(), tools: registry });
      return parts.store.read(callId);
    };
    expect(await run('production')).toMatchObject({
      outcome: 'denied',
      error: { code: 'approval_denied' },
      result: { content: [{ type: 'text', text: 'Command was not confirmed by the user.' }], isError: true },
    });
    expect(seen).toEqual([]);
    expect(await run('staging')).toMatchObject({ outcome: 'completed', result: { content: [{ type: 'text', text: 'deployed 1' }] } });
  });
});
