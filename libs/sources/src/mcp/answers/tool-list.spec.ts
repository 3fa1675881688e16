import { expect, it } from '@jest/globals';
import type { Tool } from '@modelcontextprotocol/client';
import { mendedOf, readToolList } from './tool-list.js';

it('reports unreadable annotations of a tool, for any number of them', () => {
  // Number of annotations that would take minutes to read in quadratic time.
  const others = Object.fromEntries(Array.from({ length: 600_000 }, (_, at) => [`x${at}`, true]));
  const annotations = { ...others, title: 7, readOnlyHint: 'yes', destructiveHint: true, idempotentHint: null };
  const { tools } = readToolList({ tools: [{ name: 't', inputSchema: { type: 'object' }, annotations }] }, () => undefined);
  const [tool] = tools as [Tool];
  expect(mendedOf(tool)?.left).toEqual(['annotations.title', 'annotations.readOnlyHint']);
  expect([Object.keys(tool.annotations ?? {}).length, tool.annotations?.destructiveHint]).toEqual([600_001, true]);
});

const BOTH = { readOnlyHint: true, read_only_hint: false };
it.each([
  ['Python', { input_schema: { type: 'object' }, output_schema: { type: 'object' }, annotations: { read_only_hint: true } }],
  ['the protocol', { inputSchema: { type: 'object' }, outputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
  [
    'the protocol beside those of Python',
    { inputSchema: { type: 'object' }, input_schema: 7, outputSchema: { type: 'object' }, annotations: BOTH },
  ],
])('reads a tool with the names of %s', (_whose, fields) => {
  const { tools } = readToolList({ tools: [{ name: 't', ...fields }] }, () => undefined);
  expect(tools).toMatchObject([
    { name: 't', inputSchema: { type: 'object' }, outputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  ]);
  expect(mendedOf((tools as [Tool])[0])?.left ?? []).toEqual([]);
});

it('reads a tool whose schema has the field name of model APIs', () => {
  expect(readToolList({ tools: [{ name: 't', parameters: { type: 'object', properties: { a: {} } } }] }, () => undefined)).toMatchObject({
    tools: [{ name: 't', inputSchema: { type: 'object', properties: { a: {} } } }],
  });
});
