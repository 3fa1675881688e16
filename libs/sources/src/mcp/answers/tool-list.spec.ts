import { expect, it } from '@jest/globals';
import type { Tool } from '@modelcontextprotocol/client';
import { mendedOf, readToolList } from './tool-list.js';

it('names the annotations of a tool that cannot be read, however many it has', () => {
  // They would take minutes if each took longer the more others there are.
  const others = Object.fromEntries(Array.from({ length: 600_000 }, (_, at) => [`x${at}`, true]));
  const annotations = { ...others, title: 7, readOnlyHint: 'yes', destructiveHint: true, idempotentHint: null };
  const { tools } = readToolList({ tools: [{ name: 't', inputSchema: { type: 'object' }, annotations }] }, () => undefined);
  const [tool] = tools as [Tool];
  expect(mendedOf(tool)?.left).toEqual(['annotations.title', 'annotations.readOnlyHint']);
  expect([Object.keys(tool.annotations ?? {}).length, tool.annotations?.destructiveHint]).toEqual([600_001, true]);
});
