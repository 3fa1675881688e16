import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rawMcpServer, type RawMcpServer } from '../../libs/sources/src/testing/raw-mcp-server.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const RESULTS: Readonly<Record<string, string>> = {
  structured: '"result":{"structuredContent":{"rows":3}}',
  widget: '"result":{"content":[{"type":"text","text":"done"},{"type":"widget","html":"<b>x</b>"}]}',
  flag: '"result":{"isError":true}',
  broken: '"result":{',
  error: '"error":"it broke"',
};

/** Each answer comes from a server that is not trusted, and from a trusted one whose tool may be repeated. */
describe('odd answers of MCP servers', () => {
  const servers = new Map<string, RawMcpServer>();
  let tenant: Tenant;
  beforeAll(async () => {
    for (const name of Object.keys(RESULTS).flatMap((it) => [it, `${it}-trusted`]))
      servers.set(name, await rawMcpServer('json', `{"jsonrpc":"2.0","id":ID,${RESULTS[name.replace('-trusted', '')] ?? ''}}`));
    tenant = await useTenant('odd-answers', {
      sources: [...servers].map(([name, { definition }]) => ({
        name,
        kind: 'mcp' as const,
        ...definition,
        trust: name.endsWith('-trusted'),
      })),
    });
  });
  afterAll(async () => {
    await tenant?.close();
    for (const server of servers.values()) server.close();
  });

  const call = async (name: string) => {
    const { outcome, isError, result, error } = await tenant.agent.run(`${name}__t`, {}, { sessionId: name });
    const text = (result?.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    return {
      outcome: isError === true ? 'failed' : outcome,
      text,
      retryable: error?.retryable ?? false,
      effects: servers.get(name)?.effects(),
    };
  };

  it.each([
    ['structured', 'completed', '{"rows":3}'],
    ['widget', 'completed', 'done'],
    ['widget', 'completed', '"widget"'],
    ['flag', 'failed', 'error'],
    ['broken', 'failed', ''],
    ['error', 'failed', ''],
  ])('runs a tool once whose answer is odd, and gives what it can read: %s', async (name, outcome, text) => {
    for (const trust of ['', '-trusted']) {
      const before = servers.get(name + trust)?.effects() ?? 0;
      const ended = await call(name + trust);
      expect(ended).toMatchObject({ outcome, text: expect.stringContaining(text), retryable: false, effects: before + 1 });
    }
  });
});
