import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Problem } from '#contracts';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

const ROOM = 110_000;

describe('what Redis keeps of the sessions of a tenant', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway('session-room', { tenantSessionBytes: ROOM });
  });
  afterAll(() => gateway.close());

  const send = async (method: string, path: string, body?: object) => {
    const { status, body: problem } = await gateway.agent.request<Partial<Problem>>(method, path, body);
    return { status, problem };
  };
  const patterns = (count: number) => Array.from({ length: count }, (_, index) => `tool_${String(index).padStart(90, '0')}`);
  const put = (id: string, count: number) => send('PUT', `/v1/sessions/${id}`, { tools: patterns(count), allowedTools: patterns(count) });
  const message = (id: string, chars: number) => send('POST', `/v1/sessions/${id}/steer`, { message: 'x'.repeat(chars) });
  const refused = { status: 429, problem: { code: 'quota_exceeded', detail: expect.stringContaining('TENANT_SESSION_BYTES') } };

  it('refuses settings of one more session beyond TENANT_SESSION_BYTES, and takes them when another session was deleted', async () => {
    expect(await put('a', 195)).toMatchObject({ status: 200 });
    expect(await put('b', 195)).toMatchObject({ status: 200 });
    expect(await put('c', 195)).toMatchObject(refused);
    expect(await put('a', 150)).toMatchObject({ status: 200 });
    expect(await send('DELETE', '/v1/sessions/b')).toMatchObject({ status: 204 });
    expect(await put('c', 195)).toMatchObject({ status: 200 });
    await Promise.all(['a', 'c'].map((id) => send('DELETE', `/v1/sessions/${id}`)));
  });

  it('refuses a message to a session beyond TENANT_SESSION_BYTES', async () => {
    const answers = [];
    for (const id of ['d', 'e', 'f', 'g', 'h']) answers.push(await message(id, 16_000));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 429, 429]);
    expect(answers.at(-1)).toMatchObject(refused);
  });
});
