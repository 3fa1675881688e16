import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { SpacedAnswers } from './spaced-answers.js';

const PROGRESS: JSONRPCMessage = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } };
const CHANGED: JSONRPCMessage = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
const ANSWER: JSONRPCMessage = { jsonrpc: '2.0', id: 1, result: {} };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('separates the answer to an MCP client from progress just before it, and delays nothing else', () => {
  const written: JSONRPCMessage[] = [];
  const answers = new SpacedAnswers((message) => written.push(message));
  answers.send(ANSWER);
  expect(written).toEqual([ANSWER]);
  for (const message of [PROGRESS, ANSWER, CHANGED]) answers.send(message);
  expect(written).toEqual([ANSWER, PROGRESS, CHANGED]);
  jest.advanceTimersByTime(20);
  expect(written).toEqual([ANSWER, PROGRESS, CHANGED, ANSWER]);
  answers.send(ANSWER);
  expect(written).toHaveLength(5);
});
