import { describe, expect, it } from '@jest/globals';
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/client';
import { MessageBudget, MessageFlood } from '#timing';
import { AnswerReader } from './answer-reader.js';
import { rawResult as carried } from './carried-result.js';

const request = (id: number, method = 'tools/call') => ({ jsonrpc: '2.0', id, method, params: {} });
const rawResult = (message: JSONRPCMessage | undefined) => carried((message as unknown as { result: CallToolResult }).result);
const reader = (...ids: number[]) => {
  const answers = new AnswerReader();
  for (const id of ids) answers.sent(request(id));
  return answers;
};

describe('messages of MCP servers that are odd in one place', () => {
  it.each([
    ['null', '"id":null,'],
    ['none', ''],
  ])('reads an error with the id %s as answer to the only waiting request', (_what, id) => {
    const text = `{"jsonrpc":"2.0",${id}"error":{"code":-32700,"message":"Parse error"}}`;
    expect(reader(7).read(text)).toEqual([{ jsonrpc: '2.0', id: 7, error: { code: -32_700, message: 'Parse error' } }]);
    const two = reader(7, 8);
    two.read(text);
    expect(two.waiting).toEqual([7, 8]);
  });

  it('ignores an error without an id that may answer a notification', () => {
    const answers = reader(7);
    for (const code of [-32_601, -32_600, -32_602, -32_603])
      answers.read(`{"jsonrpc":"2.0","id":null,"error":{"code":${code},"message":"no"}}`);
    expect(answers.waiting).toEqual([7]);
  });

  it.each(['tasks/get', 'tasks/cancel', 'tasks/update', 'ping'])('adds the kind to a result of %s that a server left out', (method) => {
    const answers = new AnswerReader();
    answers.sent(request(1, method));
    expect(answers.read('{"jsonrpc":"2.0","id":1,"result":{"a":1,"resultType":null}}')).toEqual([
      { jsonrpc: '2.0', id: 1, result: { a: 1, resultType: 'complete' } },
    ]);
  });

  it('reads a result without the message around it, where its request is known, and says so', () => {
    const answers = reader(7);
    const content = [{ type: 'text', text: 'done' }];
    expect(rawResult(answers.read(JSON.stringify({ content }), 7)[0])).toEqual({ content });
    expect([...answers.problems]).toEqual(['it writes results without the message around them']);
  });

  it.each([
    ['a list', '[{"name":"t","inputSchema":{"type":"object"}}]'],
    ['an object of tools by name', '{"tools":{"t":{"inputSchema":{"type":"object"}}}}'],
  ])('reads a list of tools that is %s', (_what, result) => {
    const answers = new AnswerReader();
    answers.sent(request(1, 'tools/list'));
    const [answer] = answers.read(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
    expect(answer).toMatchObject({ id: 1, result: { tools: [{ name: 't', inputSchema: { type: 'object' } }] } });
  });

  it('ignores a result without an id', () => {
    const answers = reader(7);
    answers.read('{"jsonrpc":"2.0","id":null,"result":{"content":[]}}');
    expect(answers.waiting).toEqual([7]);
  });

  it.each([
    ['in texts', '{"progressToken":"7","progress":"0.5","total":"1"}', { progressToken: 7, progress: 0.5, total: 1 }],
    ['with a token that is a text', '{"progressToken":"7","progress":1}', { progressToken: 7, progress: 1 }],
    ['with nulls', '{"progressToken":7,"progress":1,"total":null,"message":null}', { progressToken: 7, progress: 1 }],
    ['whose total is a word', '{"progressToken":7,"progress":1,"total":"many"}', { progressToken: 7, progress: 1 }],
    [
      'whose message is an object',
      '{"progressToken":7,"progress":1,"message":{"a":1}}',
      { progressToken: 7, progress: 1, message: '{"a":1}' },
    ],
    ['with the token of another client', '{"progressToken":"a7","progress":1}', { progressToken: 'a7', progress: 1 }],
  ])('reads progress %s', (_what, params, read) => {
    const message = `{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}`;
    expect(reader(7).read(message)).toEqual([{ jsonrpc: '2.0', method: 'notifications/progress', params: read }]);
  });

  const answer = (text: string) => `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":${text}}],"n":1}}`;
  it.each([
    ['a raw line end in a text', answer('"a\nb"'), 'a\nb'],
    ['other raw control characters in a text', answer('"a\tb\u0000\u001b"'), 'a\tb\u0000\u001b'],
    ['escapes of C and Python', answer(String.raw`"\x1b\'\\x41 \u00e4"`), "\u001b'\\x41 \u00e4"],
    ['escapes of no language', answer(String.raw`"C:\users\dir\0"`), String.raw`C:\users\dir\0`],
    ['a backslash before a line end', answer('"a\\\nb"'), 'a\\\nb'],
    ['NaN', answer('NaN'), null],
    ['an infinite number', answer('-Infinity'), null],
    ['the words of numbers in a text', answer('"NaN, Infinity,]"').replace('}]', '},]'), 'NaN, Infinity,]'],
    ['a comma at the end', answer('"a"').replace('1}', '1, }'), 'a'],
    ['a log before it', `Listening on {port} ${answer('"a"')}`, 'a'],
    ['a log in JSON before it', `{"level":"info"}${answer('"a"')}`, 'a'],
    ['a log before it, and NaN', `[info] ${answer('[NaN,123456789012345678901]')}`, [null, '123456789012345678901']],
  ])('reads an answer that is no strict JSON: %s', (_what, text, said) => {
    const answers = reader(7);
    expect(rawResult(answers.read(text)[0])).toEqual({ content: [{ type: 'text', text: said }], n: 1 });
    expect(answers.waiting).toEqual([]);
    expect([...answers.problems]).toEqual(['its messages are no strict JSON']);
  });

  it.each([
    ['an odd word', answer('None')],
    ['a quote that is not escaped', answer('"a "b" c"')],
    ['its id at the end', '{"result":{"a":None},"id":"7","jsonrpc":"2.0"}'],
    ['no end', answer('"a').slice(0, -9)],
    ['more to repair than is read', answer(`"\t${'x'.repeat(600_000)}"`)],
  ])('puts an error in the place of an answer that cannot be read: %s', (_what, text) => {
    expect(reader(7).read(text)).toEqual([
      { jsonrpc: '2.0', id: 7, error: { code: -32_603, message: expect.stringContaining('it is not JSON') } },
    ]);
  });

  it.each([
    ['a log', 'listening'],
    ['a log with an object', '{ port: 80 }'],
    ['an answer to another request', answer('None').replace('7', '8')],
    ['a request that names the id', '{"jsonrpc":"2.0","id":7,"method":None}'],
    ['a log of a part of an answer', `sent ${answer('"a').slice(0, -9)}`],
  ])('throws for text that is neither JSON nor an answer: %s', (_what, text) => {
    const answers = reader(7);
    expect(() => answers.read(text)).toThrow(SyntaxError);
    expect(answers.waiting).toEqual([7]);
  });

  it('ignores the log of a request', () => {
    const answers = reader(7);
    expect(answers.read(`received ${JSON.stringify(request(7))}`)).toEqual([]);
    expect(answers.waiting).toEqual([7]);
  });

  it('reads invalid JSON in linear time', () => {
    for (const text of ['{"a":"\\"', '{"', '[,', '[1, ', 'x{ ', '[-', '[NaN,"\\x1b'])
      expect(() => reader(7).read(text + text.slice(2).repeat(500_000 / text.length))).toThrow(/./);
  });

  it('skips a log with any number of commas, and a notification with too many members', () => {
    const many = '0,'.repeat(100_001);
    const answers = reader(7);
    expect(() => answers.read(`listening, ${many}`)).toThrow(SyntaxError);
    expect(answers.read(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":[${many}0]}}`)).toEqual([]);
    expect(() => answers.read(`{"jsonrpc":"2.0","id":1,"method":"ping","params":[${many}0]}`)).toThrow(RangeError);
    expect(answers.waiting).toEqual([7]);
  });

  it('reads a list of tools with more members than another message may have', () => {
    const answers = new AnswerReader();
    const list = (count: number) => `{"jsonrpc":"2.0","id":7,"result":{"tools":[${'{"name":"x","a":[]},'.repeat(count)}{}]}}`;
    answers.sent(request(7, 'tools/list'));
    expect(answers.read(list(30_000))[0]).toHaveProperty('result');
    answers.sent(request(7, 'tools/list'));
    expect(answers.read(list(80_000))[0]).toMatchObject({ error: { message: expect.stringContaining('250000') } });
  });
});

describe('what messages of MCP servers cost', () => {
  const NOTE = '{"method":"a"}';

  /** How often a text is read before its server is stopped. */
  function readsOf(text: string, most: number): number {
    const answers = new AnswerReader(new MessageBudget(() => 0));
    for (let reads = 0; reads <= most; reads += 1)
      try {
        answers.read(text);
      } catch (error) {
        if (error instanceof MessageFlood) return reads;
        if (!(error instanceof SyntaxError)) throw error;
      }
    return Infinity;
  }

  it.each([
    ['a batch, for each of its messages', `[${Array(100).fill(NOTE).join(',')}]`, 200],
    ['a request, which is answered', '{"jsonrpc":"2.0","id":1,"method":"roots/list"}', 10_000],
    ['a message of many values', `{"jsonrpc":"2.0","method":"a","params":{"a":[${'[],'.repeat(12_800)}1]}}`, 100],
    ['a text that is no JSON', `{"jsonrpc":"2.0","method":"a","params":{"a":"${'x'.repeat(51_200)}`, 200],
    ['a text that has to be repaired', `{"jsonrpc":"2.0","method":"a","params":{"a":"${'x'.repeat(51_200)}",}}`, 200],
  ])('charges an MCP server for %s', (_what, text, most) => {
    expect(readsOf(text, most)).toBeLessThanOrEqual(most);
  });

  it('ignores a list in the log of a server instead of reading a batch', () => {
    expect(new AnswerReader().read(JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id }))))).toEqual([]);
  });

  it('stops an MCP server at a batch of more than 100 messages, and handles none of them', () => {
    const budget = new MessageBudget();
    expect(() => new AnswerReader(budget).read(`[${Array(101).fill(NOTE).join(',')}]`)).toThrow(MessageFlood);
    expect(budget.exceeded).toBe('it sent a batch of more than 100 messages');
  });
});
