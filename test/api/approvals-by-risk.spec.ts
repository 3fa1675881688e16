import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApprovalPage, Problem } from '#contracts';
import type { Agent } from '../support/agent.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

describe('calls that need approval', () => {
  let tenant: Tenant;
  let agent: Agent;
  beforeAll(async () => {
    tenant = await useTenant('approvals-by-risk');
    ({ agent } = tenant);
  });
  afterAll(() => tenant?.close());

  it('lists waiting calls in pages by risk, then by age, on request', async () => {
    await agent.request('PUT', '/v1/sessions/asked', { posture: { permissionMode: 'prompt' } });
    const asked = { low: [] as string[], medium: [] as string[], high: [] as string[] };
    const remove = (command: string) => ['shell', { command }, 'high'] as const;
    const write = (path: string) => ['file_write', { path, content: '' }, 'medium'] as const;
    for (const [tool, args, risk] of [write('a'), remove('rm -rf a'), write('b'), remove('rm -rf b'), remove('rm -rf c')]) {
      const { body } = await agent.submit(tool, args, { sessionId: 'asked' });
      expect(body).toMatchObject({ status: 'waiting_approval', risk });
      asked[risk].push(body.id);
    }
    const page = async (query: string) => (await agent.get<ApprovalPage>(`/v1/approvals?sort=risk&limit=2${query}`)).body;
    const listed: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const { calls, nextCursor }: ApprovalPage = await page(cursor === '' ? '' : `&cursor=${cursor}`);
      listed.push(...calls.map(({ id }) => id));
      cursor = nextCursor;
    }
    expect(listed).toEqual([...asked.high, ...asked.medium]);
    expect((await page('&risk=medium')).calls.map(({ id }) => id)).toEqual(asked.medium);
    const { nextCursor } = (await agent.get<ApprovalPage>('/v1/approvals?limit=2')).body;
    for (const [wrong, pointer, message] of [
      ['sort=loudest', '/sort', 'newest'],
      [`sort=risk&cursor=${nextCursor}`, '/cursor', 'of the same list'],
    ]) {
      const { body } = await agent.get<Problem>(`/v1/approvals?${wrong}`);
      expect(body).toMatchObject({ code: 'invalid_request', errors: [{ pointer, message: expect.stringContaining(message ?? '') }] });
    }
    for (const id of listed) await agent.request('POST', `/v1/calls/${id}/decision`, { decision: 'deny' });
  });
});
