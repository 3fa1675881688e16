import { describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '#client';
import { fetchOf } from './refused-fetch.js';

const url = 'http://127.0.0.1:1';
const refused = () =>
  Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) }));

describe('a refused connection', () => {
  it('is reported after one attempt when the gateway has never answered', async () => {
    let attempts = 0;
    const fetch = fetchOf(url, () => {
      attempts += 1;
      return refused();
    });
    const client = new ToolyardClient({ baseUrl: url, apiKey: 'any', fetch });
    await expect(client.tools.list()).rejects.toMatchObject({ code: 'unreachable', message: expect.stringContaining('ECONNREFUSED') });
    expect(attempts).toBe(1);
  });

  it('is retried when the gateway has answered before', async () => {
    const answers = [() => Promise.resolve(Response.json({ tools: [] })), refused, () => Promise.resolve(Response.json({ tools: [] }))];
    const fetch = fetchOf(url, () => answers.shift()?.() ?? refused());
    const client = new ToolyardClient({ baseUrl: url, apiKey: 'any', fetch });
    await client.tools.list();
    expect(await client.tools.list()).toEqual([]);
    expect(answers).toEqual([]);
  });
});
