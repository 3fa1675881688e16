import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RAW_WAYS, rawMcpServer, type RawMcpServer } from '../../libs/sources/src/testing/raw-mcp-server.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const DONE = '"content":[{"type":"text","text":"done"}]';

/** Answers by what is odd in them, with the outcome and a text of the result; structured content where there is any. */
const ANSWERS: readonly (readonly [what: string, answer: string, outcome: string, text: string, structured?: object])[] = [
  ['only structured content', '"result":{"structuredContent":{"rows":3}}', 'completed', '{"rows":3}', { rows: 3 }],
  ['a part of an unknown type', '"result":{"content":[{"type":"text","text":"done"},{"type":"widget"}]}', 'completed', 'done'],
  ['only a part of an unknown type', '"result":{"content":[{"type":"widget","html":"<b>x</b>"}]}', 'completed', '"widget"'],
  ['an error without content', '"result":{"isError":true}', 'failed', 'error'],
  ['a list as structured content', '"result":{"content":[],"structuredContent":[1,2]}', 'completed', '[1,2]', { items: [1, 2] }],
  ['a text as structured content', `"result":{${DONE},"structuredContent":"x"}`, 'completed', 'done'],
  ['null as structured content', `"result":{${DONE},"structuredContent":null}`, 'completed', 'done'],
  ['null as content', '"result":{"content":null}', 'completed', 'without content'],
  ['content that is a text', '"result":{"content":"done"}', 'completed', 'done'],
  ['a result that is null', '"result":null', 'completed', 'without content'],
  ['a result that is a text', '"result":"done"', 'completed', 'done'],
  ['a text without its type', '"result":{"content":[{"text":"done"}]}', 'completed', 'done'],
  ['an image that is no base64', '"result":{"content":[{"type":"image","data":"<>","mimeType":"image/png"},"done"]}', 'completed', 'data'],
  ['members of the protocol that are null', `"result":{${DONE},"_meta":null,"isError":null}`, 'completed', 'done'],
  ['an id of a text', `"id":"ID","result":{${DONE}}`, 'completed', 'done'],
  ['NaN', `"result":{${DONE},"odd":NaN}`, 'completed', 'done'],
  ['a comma at the end', `"result":{${DONE},}`, 'completed', 'done'],
  ['an error that is a text', '"error":"it broke"', 'failed', 'it broke'],
  ['an error without code', '"error":{"message":"it broke"}', 'failed', 'it broke'],
  ['an empty error beside the result', `"error":{},"result":{${DONE}}`, 'completed', 'done'],
  ['neither result nor error', '"odd":1', 'completed', 'without content'],
  ['no JSON', '"result":{"content":None}', 'failed', 'it is not JSON'],
  ['lists of content within each other', '"result":{"content":[[{"type":"text","text":"done"}],[]]}', 'completed', 'done'],
  ['content without the result around it', DONE, 'completed', 'done'],
  ['too many items', `"result":{"content":[${'0,'.repeat(100_001)}0]}`, 'failed', '100000 members and items'],
];

/** Each answer comes from a server that is not trusted, and from a trusted one whose tool may be repeated. */
describe('odd answers of MCP servers', () => {
  const servers = new Map<string, RawMcpServer>();
  let tenant: Tenant;
  beforeAll(async () => {
    const answer = ({ odd }: Readonly<Record<string, unknown>>) => {
      const text = ANSWERS.find(([what]) => what === odd)?.[1] ?? '';
      return text.startsWith('"id"') ? `{"jsonrpc":"2.0",${text}}` : `{"jsonrpc":"2.0","id":ID,${text}}`;
    };
    for (const name of RAW_WAYS.flatMap((way) => [way, `${way}-trusted`]))
      servers.set(name, await rawMcpServer(RAW_WAYS.find((way) => name.startsWith(way)) ?? 'json', answer));
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

  const call = async (name: string, odd: string) => {
    const { outcome, isError, result, error } = await tenant.agent.run(`${name}__t`, { odd }, { sessionId: name });
    const text = (result?.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    return {
      outcome: isError === true ? 'failed' : outcome,
      text: `${text}\n${error?.message ?? ''}`,
      structured: result?.structuredContent,
      retryable: error?.retryable ?? false,
      effects: servers.get(name)?.effects(),
    };
  };

  describe.each(RAW_WAYS)('over %s', (way) => {
    it.each(ANSWERS)('runs a tool once whose answer is odd, and returns the rest of it: %s', async (...row) => {
      const [what, , outcome, text, structured] = row;
      for (const name of [way, `${way}-trusted`]) {
        const effects = (servers.get(name)?.effects() ?? 0) + 1;
        const ended = { outcome, text: expect.stringContaining(text), structured, retryable: false, effects };
        expect(await call(name, what)).toEqual(ended);
      }
    });
  });
});
