import { describe, expect, it } from '@jest/globals';
import { outputOf } from './mcp-content.js';

const PNG = 'iVBORw0KGgoAAAANSUhEUg==';
const text = (said: string) => ({ type: 'text', text: said });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const link = { type: 'resource_link', uri: 'https://a.example/b.png' };
const parts = (...content: unknown[]) => ({ content });

describe('results of MCP tools as servers write them', () => {
  it.each<[string, unknown, object]>([
    ['a type in capitals', parts({ type: 'Text', text: 'done' }), { content: [text('done')] }],
    ['a type of its own for a text', parts({ type: 'markdown', text: '# done' }), { content: [text('# done')] }],
    ['a text under the name of content', parts({ type: 'text', content: 'done' }), { content: [text('done')] }],
    ['a part of JSON', parts({ type: 'json', json: { rows: 3 } }), { content: [text('{"rows":3}')] }],
    [
      'more parts than are read',
      parts(...Array.from({ length: 5_002 }, () => 'x')),
      { content: [...Array.from({ length: 5_000 }, () => text('x')), text('[2 more parts were left out.]')] },
    ],
    ['a part of JSON under the name of data', parts({ type: 'json', data: [1] }), { content: [text('[1]')] }],
    ['an error flag of Python', { content: 'no', is_error: true }, { content: [text('no')], isError: true }],
    [
      'structured content of Python',
      { content: [], structured_content: { a: 1 } },
      { content: [text('{"a":1}')], structuredContent: { a: 1 } },
    ],
    ['structured content as a text of JSON', { content: 'x', structuredContent: '{"a":1}' }, { structuredContent: { a: 1 } }],
    [
      'an image with a source',
      parts({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }),
      { content: [image] },
    ],
    ['an image by its address', parts({ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }), { content: [image] }],
    ['a type of Python', parts({ type: 'image', data: PNG, mime_type: 'image/png' }), { content: [image] }],
    [
      'a type of Python in a resource',
      parts({ type: 'resource', resource: { uri: 'a:b', text: 'x', mime_type: 'text/x' } }),
      { content: [{ type: 'resource', resource: { uri: 'a:b', text: 'x', mimeType: 'text/x' } }] },
    ],
    [
      'a resource whose fields are beside its type',
      parts({ type: 'resource', uri: 'a:b', mime_type: 'text/x', text: 'x' }),
      { content: [{ type: 'resource', resource: { uri: 'a:b', text: 'x', mimeType: 'text/x' } }] },
    ],
    ['lists of parts within each other', parts([text('a'), [image]], 'b'), { content: [text('a'), image, text('b')] }],
    ['an image without a type of part', parts({ data: PNG, mimeType: 'image/png' }), { content: [image] }],
    [
      'a resource without a type of part',
      parts({ resource: { uri: 'a:b', text: 'x' } }),
      { content: [{ type: 'resource', resource: { uri: 'a:b', text: 'x' } }] },
    ],
    ['a resource without address', parts({ type: 'resource', resource: { text: 'x' } }), { content: [text('x')] }],
    [
      'a resource whose address is empty',
      parts({ type: 'resource', resource: { uri: '', text: { a: 1 } } }),
      { content: [text('{"a":1}')] },
    ],
    ['a resource that is a text', parts({ type: 'resource', resource: 'x' }), { content: [text('x')] }],
    [
      'a resource whose text is a number',
      parts({ type: 'resource', resource: { uri: 'a:b', text: 7 } }),
      { content: [{ type: 'resource', resource: { uri: 'a:b', text: '7' } }] },
    ],
    [
      'a resource whose text is an object',
      parts({ type: 'resource', resource: { uri: 'a:b', text: { a: 1 } } }),
      { content: [{ type: 'resource', resource: { uri: 'a:b', text: '{"a":1}' } }] },
    ],
    ['a type of its own for a text under the name of content', parts({ type: 'html', content: '<p>x' }), { content: [text('<p>x')] }],
    ['a text under the name of value', parts({ type: 'text', value: 'x' }), { content: [text('x')] }],
    ['an image of which it has the address', parts({ type: 'image', url: 'https://a.example/b.png' }), { content: [link] }],
    [
      'an image whose source is an address',
      parts({ type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }),
      { content: [link] },
    ],
    ['an image whose address is its data', parts({ type: 'image', url: `data:image/png;base64,${PNG}` }), { content: [image] }],
    ['half a type', parts({ type: 'image', data: PNG, mimeType: 'png' }), { content: [image] }],
    [
      'half a type that its bytes do not show',
      parts({ type: 'image', data: 'aGk=', mimeType: 'PNG' }),
      { content: [{ ...image, data: 'aGk=' }] },
    ],
    ['a number', 42, { content: [text('42')] }],
    ['a number as content', { content: 4.5 }, { content: [text('4.5')] }],
    ['true', true, { content: [text('true')] }],
  ])('reads a result with %s', (_what, result, output) => {
    expect(outputOf(result, false)).toMatchObject(output);
  });
});
