import { describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '../toolyard-client.js';
import type { ToolyardError } from '../toolyard-error.js';

const baseUrl = 'http://gateway.test:7411';
const ENDED = { id: '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V', status: 'ended' };
const CALL = { tool: 'shell', arguments: {} };

/** Failure of `fetch` in Node. */
const failure = (code: string) => () =>
  Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(`connect ${code}`), { code }) }));
const tools = () => Promise.resolve(Response.json({ tools: [] }));

/** Client whose requests are answered by the next of a list; the last one repeats. */
function clientOf(answers: (() => Promise<Response>)[], more: { retries?: number } = {}) {
  const sent = { requests: 0 };
  const fetch = () => {
    const answer = answers[Math.min(sent.requests, answers.length - 1)]!;
    sent.requests += 1;
    return answer();
  };
  return { client: new ToolyardClient({ baseUrl, apiKey: 'any', fetch, WebSocket: false, ...more }), sent };
}

describe('a server that has never answered', () => {
  const wrong = { code: 'unreachable', neverAnswered: true, message: expect.stringContaining(baseUrl) };

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'DEPTH_ZERO_SELF_SIGNED_CERT'])(
    'fails for a server that has never answered after %s',
    async (code) => {
      for (const ask of [
        (client: ToolyardClient) => client.tools.list(),
        (client: ToolyardClient) => client.calls.run(CALL),
        (client: ToolyardClient) => client.execute('shell', '{}', { sessionId: 's' }),
        (client: ToolyardClient) => client.batches.run({ sessionId: 's', calls: [CALL] }),
        (client: ToolyardClient) => client.watch()[Symbol.asyncIterator]().next(),
      ]) {
        const { client, sent } = clientOf([failure(code)]);
        await expect(ask(client)).rejects.toMatchObject(wrong);
        expect(sent.requests).toBe(1);
      }
    },
  );

  it('retries after a cut connection to a server that has never answered, as often as `retries` allows', async () => {
    expect(await clientOf([failure('ECONNRESET'), tools]).client.tools.list()).toEqual([]);
    expect(await clientOf([failure('ECONNREFUSED'), tools], { retries: 1 }).client.tools.list()).toEqual([]);
  });

  it('ends `execute` after the retries of one request, unless `outageMs` is given', async () => {
    const { client } = clientOf([failure('ECONNRESET')], { retries: 0 });
    await expect(client.execute('shell', '{}', { sessionId: 's' })).rejects.toMatchObject(wrong);
    const ended = () => Promise.resolve(Response.json({ ...ENDED, result: { content: [{ type: 'text', text: 'done' }], isError: false } }));
    const patient = clientOf([failure('ECONNREFUSED'), failure('ECONNREFUSED'), ended]);
    const answer = await patient.client.execute('shell', '{}', { sessionId: 's', outageMs: 60_000 }).catch((error: ToolyardError) => error);
    expect(patient.sent.requests).toBe(3);
    expect(answer).not.toMatchObject({ code: 'unreachable' });
  });
});

describe('a server that has answered', () => {
  it('asks a server that has answered again after a refused connection', async () => {
    const { client } = clientOf([tools, failure('ECONNREFUSED'), tools]);
    await client.tools.list();
    expect(await client.tools.list()).toEqual([]);
  });
});
