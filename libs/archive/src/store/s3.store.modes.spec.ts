import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openArchive, storeVerified, type ArchiveStore } from '#archive';
import { S3_BUCKET, S3Server, type S3Fault } from '../../../../test/support/s3-server.js';
import { archiveStoreContract } from '../testing/store.contract.js';
import { listAll } from './list-all.js';
import { openS3 } from './s3.store.js';

let server: S3Server;
let store: ArchiveStore;
let prefixes = 0;
const before = { ...process.env };

beforeAll(async () => {
  server = await S3Server.start();
  Object.assign(process.env, server.env);
});
afterEach(() => {
  server.fault = undefined;
});
afterAll(async () => {
  process.env = before;
  await server.stop();
});

const fresh = () => openArchive(`s3://${S3_BUCKET}/p${(prefixes += 1)}`, { readOnly: true });

describe('an archive in S3', () => {
  let contractStore: ArchiveStore;
  // Each test has a prefix of its own.
  archiveStoreContract(() => contractStore);
  beforeEachStore();

  function beforeEachStore(): void {
    beforeAll(async () => (contractStore = await fresh()));
    afterEach(async () => (contractStore = await fresh()));
  }

  it('lists more names of S3 than a page has', async () => {
    store = await fresh();
    const names = Array.from({ length: 1_050 }, (_, n) => `n/${String(n).padStart(5, '0')}`);
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(names.slice(at, at + 50).map((name) => store.put(name, Buffer.from('x'))));
    const listed: string[] = [];
    for await (const name of listAll(store, 'n/')) listed.push(name);
    expect(listed).toEqual(names);
  });
});

describe('an S3 store that does not do what it should', () => {
  const first = (method: string, fault: S3Fault): S3Fault => {
    let done = false;
    return (request, response, pass) => {
      if (done || request.method !== method) return false;
      done = true;
      return fault(request, response, pass);
    };
  };
  const answers =
    (status: number, code: string): S3Fault =>
    (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
      return true;
    };
  const onGet =
    (change: (body: Buffer) => { body: Buffer; announced?: number }): S3Fault =>
    async (request, response, pass) => {
      if (request.method !== 'GET') return false;
      const { status, headers, body } = await pass();
      const changed = change(body);
      response.writeHead(status, { ...headers, 'content-length': changed.announced ?? changed.body.length });
      response.write(changed.body, () => response.destroy());
      return true;
    };

  it('refuses an S3 store without conditional writes, or one that overwrites', async () => {
    server.fault = (request) => {
      delete request.headers['if-none-match'];
      return false;
    };
    await expect(openArchive(`s3://${S3_BUCKET}/overwrites`)).rejects.toThrow('so it could overwrite the archive');
    server.fault = answers(501, 'NotImplemented');
    await expect(openArchive(`s3://${S3_BUCKET}/none`)).rejects.toThrow('supports conditional writes');
  });

  it('asks an S3 store again after 500, 503 and a connection that breaks off', async () => {
    store = await fresh();
    server.fault = first('PUT', answers(500, 'InternalError'));
    expect(await store.put('a', Buffer.from('one'))).toBe('created');
    server.fault = first('GET', answers(503, 'SlowDown'));
    expect(await store.get('a')).toEqual(Buffer.from('one'));
    server.fault = first('GET', (_request, response) => {
      response.destroy();
      return true;
    });
    expect(await store.get('a')).toEqual(Buffer.from('one'));
  });

  it('recognises by repetition a write that an S3 store made without acknowledging it', async () => {
    store = await fresh();
    server.fault = first('PUT', async (_request, response, pass) => {
      await pass();
      response.destroy();
      return true;
    });
    expect(await store.put('a', Buffer.from('one'))).toBe('exists');
    await storeVerified(store, 'a', Buffer.from('one'));
  });

  it('reads a body again that an S3 store has cut, and at last fails', async () => {
    store = await fresh();
    await store.put('a', Buffer.from('one two three'));
    const cut = onGet((body) => ({ body: body.subarray(0, 5), announced: body.length }));
    server.fault = first('GET', cut);
    expect(await store.get('a')).toEqual(Buffer.from('one two three'));
    server.fault = cut;
    await expect(store.get('a')).rejects.toThrow(/could not read a: the body broke off after \d bytes/);
  });

  it('counts nothing as stored if an S3 store returns other bytes', async () => {
    store = await fresh();
    server.fault = onGet((body) => ({ body: Buffer.from(body).fill('x', 0, 1) }));
    await expect(storeVerified(store, 'a', Buffer.from('one'))).rejects.toThrow('a: holds other bytes than those that were written');
    server.fault = undefined;
    await storeVerified(store, 'a', Buffer.from('one'));
    server.fault = first('PUT', (_request, response) => {
      response.writeHead(200, { etag: '"wrong"' }).end();
      return true;
    });
    await expect(storeVerified(store, 'b', Buffer.from('one'))).rejects.toThrow('b: was written, but is missing in the store');
  });

  it('ends a request in time when an S3 store does not answer', async () => {
    server.fault = () => true;
    const hurried = await openS3(`s3://${S3_BUCKET}/slow`, { readOnly: true, deadlineMs: 100 });
    await expect(hurried.get('a')).rejects.toThrow('the store did not answer in time');
    server.fault = (_request, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half');
      return true;
    };
    await expect(hurried.get('a')).rejects.toThrow('could not read a');
  });

  it('fails when an S3 store lists the same page for ever', async () => {
    store = await fresh();
    await store.put('a', Buffer.from('one'));
    server.fault = async (request, response, pass) => {
      if (request.url?.includes('list-type') !== true) return false;
      request.url = request.url.replace(/&start-after=[^&]*/, '');
      const { status, body } = await pass();
      response.writeHead(status).end(body.toString().replace('<IsTruncated>false', '<IsTruncated>true'));
      return true;
    };
    await expect(store.list('')).rejects.toThrow('out of order, or more than once');
  });

  it('fails for a missing S3 bucket instead of reading it as an empty archive', async () => {
    const none = await openArchive('s3://no-such-bucket/x', { readOnly: true });
    await expect(none.get('a')).rejects.toThrow('NoSuchBucket (404)');
    await expect(none.list('')).rejects.toThrow('NoSuchBucket (404)');
    await expect(none.put('a', Buffer.from('one'))).rejects.toThrow('NoSuchBucket (404)');
  });

  it('repeats nothing of the answer of an S3 store to refused credentials', async () => {
    store = await fresh();
    const canonical = 'GET\nx-amz-security-token:a-token-of-a-role';
    server.fault = (_request, response) => {
      const details = `<CanonicalRequest>${canonical}</CanonicalRequest><AWSAccessKeyId>an-id</AWSAccessKeyId>`;
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end(`<Error><Code>SignatureDoesNotMatch</Code><Message>${canonical}</Message>${details}</Error>`);
      return true;
    };
    const refused = await store.get('a').catch((error: unknown) => error);
    expect(refused).toMatchObject({ message: expect.stringContaining('could not read a: SignatureDoesNotMatch (403)') });
    expect(inspect(refused, { depth: 10 })).not.toMatch(/a-token-of-a-role|an-id|Signature=|Credential=|test-secret/);
  });
});
