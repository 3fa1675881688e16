import { describe, expect, it } from '@jest/globals';
import { AnswerReader } from './answer-reader.js';

const request = (id: number, method = 'tools/call') => ({ jsonrpc: '2.0', id, method, params: {} });
const reader = (...ids: number[]) => {
  const answers = new AnswerReader();
  for (const id of ids) answers.sent(request(id));
  return answers;
};

describe('messages of MCP servers that are odd in one place', () => {
  it.each([
    ['null', '"id":null,'],
    ['none', ''],
  ])('takes an error whose id is %s for the answer to the one request that waits', (_what, id) => {
    const text = `{"jsonrpc":"2.0",${id}"error":{"code":-32700,"message":"Parse error"}}`;
    expect(reader(7).read(text)).toEqual([{ jsonrpc: '2.0', id: 7, error: { code: -32_700, message: 'Parse error' } }]);
    const two = reader(7, 8);
    two.read(text);
    expect(two.waiting).toEqual([7, 8]);
  });

  it('takes an error without an id for no answer of a request that may be one of a notification', () => {
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

  it('takes no result without an id for an answer', () => {
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
});
