import { describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '#client';
import { callIdOf, isNamed } from './call-ids.js';
import { Terminal } from './terminal/terminal.js';

describe('a call named by a part of its id', () => {
  const id = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';

  it.each(['6K8N0P1V', '6K8N', '0P1V', 'T2M6K8N0P1V'])('finds a call by a part of its id: %s', (part) =>
    expect(isNamed(id, part)).toBe(true),
  );

  it.each(['01JZ', 'K8N0', '6K8N0P1W'])('finds no call by %s', (part) => expect(isNamed(id, part)).toBe(false));
});

describe('a part that names several calls', () => {
  const ids = ['07-01JZ8C5W3Q4X9R7T2M6K8N0P1V', '03-01JZ8C5W3Q4X9R7T2M6K8NZZZZ'];
  const call = (id: string) => ({
    id,
    tool: 'shell',
    pool: 'shell',
    priority: 'normal',
    labels: {},
    preview: `{"command":"echo ${id.slice(-4)}"}`,
    status: 'queued',
    attempt: 1,
    retrying: false,
    submittedAt: '2026-01-01T00:00:00Z',
    waitMs: 0,
  });
  const fetch = (url: unknown) =>
    Promise.resolve(Response.json(String(url).includes('/v1/tools') ? { tools: [] } : { calls: ids.map((id) => call(id)) }));
  const client = new ToolyardClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'any', fetch });
  const terminal = new Terminal(process.stdout, process.stderr, {});
  const context = { client, terminal };

  it('lists the calls of an ambiguous id part in an error, each with its subject', async () => {
    const error = await callIdOf(context, '6K8N').catch((why: unknown) => String(why));
    expect(error).toContain('6K8N names several calls. Give more characters');
    for (const id of ids) expect(error).toMatch(new RegExp(`${id} +shell .*echo ${id.slice(-4)}`));
  });

  it('resolves an id part as soon as it is unique, and fails for one that no id ends with', async () => {
    expect(await callIdOf(context, '6k8nz')).toBe(ids[1]);
    await expect(callIdOf(context, 'AAAA')).rejects.toThrow('No call has an id that ends in AAAA');
  });
});
