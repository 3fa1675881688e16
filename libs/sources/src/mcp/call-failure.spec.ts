import { expect, it } from '@jest/globals';
import { ToolError } from '#tool-sdk';
import { callFailure } from './call-failure.js';

it('does not let a call of an MCP server be repeated that fails until a person authorizes its source', () => {
  const failure = callFailure(new ToolError('unavailable', 'needs authorization', { retryable: false }), {}, (text) => text);
  expect([failure.code, failure.options.retryable]).toEqual(['unavailable', false]);
  const another = callFailure(new ToolError('unavailable', 'no token now', { retryable: true }), {}, (text) => text);
  expect(another.options.retryable).toBe(true);
});
