import { afterEach, describe, expect, it } from '@jest/globals';
import { openApi } from '../testing/openapi-api.js';

type Api = Awaited<ReturnType<typeof openApi>>;
const binary = { type: 'string', format: 'binary' };
const fixed = (text: string) => ({ schema: { type: 'string', const: text } });

/** OpenAPI 3.2: the encoding of a part that is a multipart body itself. */
describe('parts of a multipart body that have parts of their own', () => {
  let api: Api | undefined;
  afterEach(() => api?.close());
  const of = async (mediaType: string, media: object) => {
    const operation = { operationId: 'op', requestBody: { required: true, content: { [mediaType]: media } }, responses: {} };
    api = await openApi({ openapi: '3.2.0', info: {}, paths: { '/x': { post: operation } } });
    return api;
  };
  /** Text of the body, with boundaries named by their place. */
  const sent = async (mediaType: string, media: object, body: unknown) => {
    const made = await of(mediaType, media);
    expect(made.problems).toEqual([]);
    const { headers, body: text } = await made.sent('op', { body });
    const names = new Map<string, string>();
    const all = `${String(headers['content-type'])}\n${text}`;
    return all
      .replaceAll(/----toolyard-[0-9a-f-]{36}/g, (it) => names.get(it) ?? (names.set(it, `B${names.size + 1}`), names.get(it) ?? ''))
      .split(/\r?\n/);
  };

  it('drops an operation whose few shared encodings make very many parts', async () => {
    const names = Array.from({ length: 100 }, (_unused, index) => `p${index}`);
    const encodings = ['e1', 'e2', 'e3', 'e4'].map((name, index) => [
      name,
      {
        contentType: 'multipart/mixed',
        encoding: Object.fromEntries(names.map((it) => [it, { $ref: `#/components/x/e${index + 2}` }])),
      },
    ]);
    const media = { schema: {}, encoding: Object.fromEntries(names.map((it) => [it, { $ref: '#/components/x/e1' }])) };
    const operation = { operationId: 'op', requestBody: { content: { 'multipart/form-data': media } }, responses: {} };
    const components = { x: Object.fromEntries([...encodings, ['e5', { contentType: 'text/plain' }]]) };
    api = await openApi({ openapi: '3.2.0', info: {}, components, paths: { '/x': { post: operation } } });
    expect(api.problems).toEqual([expect.stringContaining('more than 1000 parts')]);
  });

  it('sends a multipart property with the names, types and headers of its own parts', async () => {
    const docs = { type: 'object', properties: { meta: { type: 'object' }, file: binary } };
    const media = {
      schema: { type: 'object', properties: { docs, note: { type: 'string' } } },
      encoding: {
        docs: { contentType: 'multipart/mixed', encoding: { meta: { contentType: 'application/x+json', headers: { 'X-A': fixed('b') } } } },
      },
    };
    const file = { data: 'aGk=', filename: 'a.txt', content_type: 'text/plain' };
    expect(await sent('multipart/form-data', media, { docs: { meta: { a: 1 }, file }, note: 'x' })).toEqual([
      'multipart/form-data; boundary=B1',
      '--B1',
      'Content-Disposition: form-data; name="docs"',
      'Content-Type: multipart/mixed; boundary=B2',
      '',
      '--B2',
      'Content-Disposition: attachment; name="meta"',
      'X-A: b',
      'Content-Type: application/x+json',
      '',
      '{"a":1}',
      '--B2',
      'Content-Disposition: attachment; name="file"; filename="a.txt"',
      'Content-Type: text/plain',
      '',
      'hi',
      '--B2--',
      '',
      '--B1',
      'Content-Disposition: form-data; name="note"',
      '',
      'x',
      '--B1--',
      '',
    ]);
  });

  it('sends a list of files as the single part of its type', async () => {
    const media = {
      schema: { type: 'object', properties: { files: { type: 'array', items: binary } } },
      encoding: { files: { contentType: 'multipart/mixed' } },
    };
    const files = ['aGk=', { data: 'aG8=', filename: 'b.bin' }];
    expect(await sent('multipart/form-data', media, { files })).toEqual([
      'multipart/form-data; boundary=B1',
      '--B1',
      'Content-Disposition: form-data; name="files"',
      'Content-Type: multipart/mixed; boundary=B2',
      '',
      '--B2',
      'Content-Type: application/octet-stream',
      '',
      'hi',
      '--B2',
      'Content-Disposition: attachment; filename="b.bin"',
      'Content-Type: application/octet-stream',
      '',
      'ho',
      '--B2--',
      '',
      '--B1--',
      '',
    ]);
  });

  it('sends parts within parts of a list, by prefixEncoding and itemEncoding', async () => {
    const media = {
      schema: { type: 'array', prefixItems: [{ type: 'object' }], items: { type: 'array', prefixItems: [{ type: 'object' }, binary] } },
      prefixEncoding: [{ contentType: 'application/json' }],
      itemEncoding: { contentType: 'multipart/related; type="application/json"', prefixEncoding: [{}, { contentType: 'image/png' }] },
    };
    expect(await sent('multipart/mixed', media, [{ a: 1 }, [{ b: 2 }, 'aGk=']])).toEqual([
      'multipart/mixed; boundary=B1',
      '--B1',
      'Content-Type: application/json',
      '',
      '{"a":1}',
      '--B1',
      'Content-Type: multipart/related; type="application/json"; boundary=B2',
      '',
      '--B2',
      'Content-Type: application/json',
      '',
      '{"b":2}',
      '--B2',
      'Content-Type: image/png',
      '',
      'hi',
      '--B2--',
      '',
      '--B1--',
      '',
    ]);
  });

  it('refuses a value of a part with parts that is neither an object nor a list', async () => {
    const media = { schema: { type: 'object' }, encoding: { docs: { contentType: 'multipart/mixed' } } };
    const made = await of('multipart/form-data', media);
    await expect(made.output('op', { body: { docs: 'x' } })).rejects.toThrow('expected an object or a list as docs');
  });

  it('drops an operation with endlessly nested parts, and reports it', async () => {
    const encoding = { deep: { $ref: '#/components/x-encodings/deep' } };
    const deep = { contentType: 'multipart/mixed', encoding };
    const media = { schema: { $ref: '#/components/schemas/Deep' }, encoding };
    const body = { requestBody: { content: { 'multipart/form-data': media } } };
    const schemas = { Deep: { type: 'object', properties: { deep: { $ref: '#/components/schemas/Deep' } } } };
    const paths = { '/x': { post: { operationId: 'op', ...body }, get: { operationId: 'other' } } };
    api = await openApi({ openapi: '3.2.0', info: {}, paths, components: { schemas, 'x-encodings': { deep } } });
    expect(api.tools.map(({ name }) => name)).toEqual(['other']);
    expect(api.problems).toEqual([expect.stringMatching(/^POST \/x: .*multipart.*more than 4 levels/)]);
  });
});
