import { describe, expect, it } from '@jest/globals';
import { buildRequest } from './build-request.js';
import type { Credentials } from './credentials.js';
import type { Operation } from './operation.js';
import { readOperations } from './read-operations.js';

const NONE: Credentials = { headers: {}, query: {}, cookies: {}, secrets: [] };
const one = async (document: object): Promise<Operation> => {
  const servers = { url: 'https://api.example.com', documentUrl: undefined, sameOrigin: false };
  const reserved = { headers: new Set<string>(), query: new Set<string>(), cookies: new Set<string>() };
  const { operations, problems } = await readOperations(document, { servers, reserved, wanted: () => true, maxTools: 10 });
  expect(problems).toEqual([]);
  const [found] = operations;
  if (found === undefined) throw new Error('expected an operation');
  return found;
};
const post = (mediaType: string, schema: object, more: object = {}, schemas: object = {}) => ({
  openapi: '3.0.3',
  info: {},
  paths: { '/x': { post: { requestBody: { required: true, content: { [mediaType]: { schema, ...more } } } } } },
  components: { schemas },
});

describe('a body with a discriminator', () => {
  const animal = (more: object) => ({ type: 'object', required: ['petType'], properties: { petType: { type: 'string' }, ...more } });
  const schemas = { Cat: animal({ name: { type: 'string' } }), Dog: animal({ bark: { type: 'string' } }) };
  const branches = [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }];

  it.each([
    ['alone', { propertyName: 'petType' }],
    ['with a mapping', { propertyName: 'petType', mapping: { kitty: '#/components/schemas/Cat', Dog: 'Dog' } }],
  ])('accepts a value with a discriminator that fits several branches: %s', async (_how, discriminator) => {
    const { input } = await one(post('application/json', { oneOf: branches, discriminator }, {}, schemas));
    const { body } = input['properties'] as { body: Record<string, unknown> };
    expect(body).toMatchObject({ anyOf: [{ required: ['petType'] }, { required: ['petType'] }] });
    expect(body).not.toHaveProperty('oneOf');
  });

  it('keeps both lists of branches where a schema has both', async () => {
    const both = { oneOf: branches, anyOf: [{ minProperties: 1 }], discriminator: { propertyName: 'petType' } };
    const { input } = await one(post('application/json', both, {}, schemas));
    expect(input).toMatchObject({ properties: { body: { anyOf: [{ minProperties: 1 }], allOf: [{ anyOf: [{}, {}] }] } } });
  });
});

describe('a file of a multipart body', () => {
  const FILE = { type: 'object', properties: { file: { type: 'string', format: 'binary' }, model: { type: 'string' } } };
  /** The names and types of the files that are sent. */
  const sent = async (args: object, schema: object = FILE, more: object = {}) => {
    const request = buildRequest(await one(post('multipart/form-data', schema, more)), { body: args }, NONE);
    const form = await new Response(request.body ?? null, { headers: { ...request.headers } }).formData();
    return form.getAll('file').map((part) => (part instanceof File ? [part.name, part.type] : part));
  };
  const WAV = 'UklGRiQAAABXQVZFZm10IA==';

  it.each([
    [{ file: { data: WAV, filename: 'a.wav' } }, ['a.wav', 'audio/wav']],
    [{ file: { data: WAV, filename: 'Größe "1".wav', content_type: 'audio/x-wav' } }, ['Größe "1".wav', 'audio/x-wav']],
    [{ file: WAV, model: 'm' }, ['file.wav', 'audio/wav']],
    [{ file: { data: WAV } }, ['file.wav', 'audio/wav']],
    [{ file: 'iVBORw0KGgo=' }, ['file.png', 'image/png']],
    [{ file: '/9j/4AAQ' }, ['file.jpg', 'image/jpeg']],
    [{ file: 'JVBERi0xLjQ=' }, ['file.pdf', 'application/pdf']],
    [{ file: 'UEsDBAoA' }, ['file.zip', 'application/zip']],
    [{ file: 'aGk=' }, ['file', 'application/octet-stream']],
    [{ file: { data: 'aGk=', filename: 'a.txt' } }, ['a.txt', 'application/octet-stream']],
  ])('sends a file with a name and a type that servers take: %j', async (args, expected) => expect(await sent(args)).toEqual([expected]));

  it('sends a file with the type in the document', async () => {
    const typed = (contentType: string) => sent({ file: 'aGk=' }, FILE, { encoding: { file: { contentType } } });
    expect(await typed('text/csv')).toEqual([['file.csv', 'text/csv']]);
    expect(await typed('image/png, image/jpeg')).toEqual([['file.png', 'image/png']]);
    expect(await typed('audio/*')).toEqual([['file', 'application/octet-stream']]);
  });

  it('sends each of several files', async () => {
    const schema = { type: 'object', properties: { file: { type: 'array', items: { type: 'string', format: 'binary' } } } };
    expect(await sent({ file: [WAV, { data: 'aGk=', filename: 'b' }] }, schema)).toEqual([
      ['file.wav', 'audio/wav'],
      ['b', 'application/octet-stream'],
    ]);
  });

  it('describes files to models, and refuses a value in neither form', async () => {
    const { input } = await one(post('multipart/form-data', FILE));
    const { body } = input['properties'] as { body: { properties: { file: { anyOf: unknown } } } };
    expect(body.properties.file.anyOf).toMatchObject([{ type: 'string' }, { required: ['data'], properties: { filename: {} } }]);
    for (const file of ['no base64!', { filename: 'a' }, { data: 7 }, 7])
      await expect(sent({ file })).rejects.toThrow('expected Base64 text as file, or {"data": Base64, "filename": "name.ext"}');
  });
});
