import { addAbortSignal, type Readable } from 'node:stream';
import {
  HeadObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { ArchiveCorrupt, ArchiveUnusable } from '../archive-errors.js';
import { codeOf, S3Failure, statusOf } from './s3-failure.js';
import { s3Options } from './s3.config.js';
import { checkName, MAX_LISTED, MAX_VALUE_BYTES, type ArchiveStore } from './archive-store.port.js';

/** Value written once when an archive is opened for writing, and tried again at each start. */
const CREATE_ONLY_CHECK = 'create-only-check.txt';
/** Deadline of a request with its retries and its whole body, so that a hanging store does not block sealing for ever. */
const DEADLINE_MS = 60_000;
/** Tries of a read: the client retries requests, but not an interrupted body. */
const READ_ATTEMPTS = 3;

/** Archive in a bucket. Values are created with `If-None-Match: *`. */
class S3Store implements ArchiveStore {
  readonly label: string;

  constructor(
    private readonly client: S3Client,
    private readonly bucket: string,
    private readonly prefix: string,
    private readonly deadlineMs = DEADLINE_MS,
  ) {
    this.label = `s3://${bucket}/${prefix}`;
  }

  async put(name: string, bytes: Uint8Array): Promise<'created' | 'exists'> {
    checkName(name);
    const request = new PutObjectCommand({ ...this.keyOf(name), Body: bytes, ContentLength: bytes.byteLength, IfNoneMatch: '*' });
    try {
      await this.within((abortSignal) => this.client.send(request, { abortSignal }));
      return 'created';
    } catch (error) {
      if (statusOf(error) === 412) return 'exists';
      // S3 may reject one of two concurrent writers before either has succeeded.
      if (statusOf(error) === 409 && (await this.exists(name))) return 'exists';
      if (statusOf(error) === 501) throw this.overwrites();
      throw this.failure(`write ${name}`, error);
    }
  }

  async get(name: string): Promise<Buffer | undefined> {
    checkName(name);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.within((signal) => this.read(name, signal));
      } catch (error) {
        if (statusOf(error) === 404 && codeOf(error) !== 'NoSuchBucket') return undefined;
        if (error instanceof ArchiveCorrupt) throw error;
        if (!(error instanceof BrokenBody) || attempt === READ_ATTEMPTS) throw this.failure(`read ${name}`, error);
      }
    }
  }

  async list(prefix: string, { after = '', limit = MAX_LISTED }: { after?: string; limit?: number } = {}): Promise<string[]> {
    const names: string[] = [];
    let start = after;
    while (names.length < limit) {
      const { page, isLast } = await this.page(prefix, start, Math.min(limit - names.length, MAX_LISTED));
      names.push(...page);
      start = page.at(-1) ?? start;
      if (isLast) break;
    }
    return names;
  }

  async delete(name: string): Promise<void> {
    checkName(name);
    try {
      await this.within((abortSignal) => this.client.send(new DeleteObjectCommand(this.keyOf(name)), { abortSignal }));
    } catch (error) {
      throw this.failure(`delete ${name}`, error);
    }
  }

  /** @throws ArchiveUnusable if a second write of the same name is accepted */
  async checkCreateOnly(): Promise<void> {
    const bytes = Buffer.from('Shows that this store refuses to overwrite (If-None-Match: *). Keep it.\n');
    if ((await this.put(CREATE_ONLY_CHECK, bytes)) === 'exists') return;
    if ((await this.put(CREATE_ONLY_CHECK, bytes)) === 'exists') return;
    throw this.overwrites();
  }

  private async read(name: string, abortSignal: AbortSignal): Promise<Buffer> {
    const { Body, ContentLength } = await this.client.send(new GetObjectCommand(this.keyOf(name)), { abortSignal });
    if (Body === undefined) return Buffer.alloc(0);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- in Node the body of an answer is a Readable
    return readLimited(name, addAbortSignal(abortSignal, Body as Readable), ContentLength);
  }

  /** @throws ArchiveUnusable for a list that is not ascending, which would never end */
  private async page(prefix: string, after: string, wanted: number): Promise<{ page: string[]; isLast: boolean }> {
    const request = new ListObjectsV2Command({
      Bucket: this.bucket,
      Prefix: this.prefix + prefix,
      MaxKeys: wanted,
      ...(after === '' ? {} : { StartAfter: this.prefix + after }),
    });
    try {
      const { Contents = [], IsTruncated } = await this.within((abortSignal) => this.client.send(request, { abortSignal }));
      const page = Contents.map(({ Key = '' }) => Key.slice(this.prefix.length));
      if (page.some((name, index) => name <= (page[index - 1] ?? after)))
        throw new ArchiveUnusable(`${this.label}: the store lists names below ${prefix} out of order, or more than once.`);
      return { page: page.slice(0, wanted), isLast: IsTruncated !== true || page.length === 0 };
    } catch (error) {
      throw this.failure(`list ${prefix}`, error);
    }
  }

  private async exists(name: string): Promise<boolean> {
    try {
      await this.within((abortSignal) => this.client.send(new HeadObjectCommand(this.keyOf(name)), { abortSignal }));
      return true;
    } catch (error) {
      if (statusOf(error) === 404) return false;
      throw this.failure(`look for ${name}`, error);
    }
  }

  private within<T>(request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return request(AbortSignal.timeout(this.deadlineMs));
  }

  private failure(what: string, error: unknown): Error {
    return error instanceof ArchiveUnusable || error instanceof S3Failure ? error : new S3Failure(this.label, what, error);
  }

  private overwrites(): ArchiveUnusable {
    return new ArchiveUnusable(
      `${this.label}: the store accepts a write with "If-None-Match: *" to a name that exists, or does not know it, so it could overwrite ` +
        'the archive. Use a store that supports conditional writes (AWS S3, MinIO, Ceph, R2), or a folder.',
    );
  }

  private keyOf(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.bucket, Key: this.prefix + name };
  }
}

/** @param deadlineMs of a request with its body; for tests */
export async function openS3(url: string, { readOnly, deadlineMs }: { readOnly: boolean; deadlineMs?: number }): Promise<ArchiveStore> {
  const { bucket, prefix } = parseAddress(url);
  const store = new S3Store(new S3Client(s3Options()), bucket, prefix, deadlineMs);
  if (!readOnly) await store.checkCreateOnly();
  return store;
}

function parseAddress(url: string): { bucket: string; prefix: string } {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})(?:\/(.*))?$/.exec(url) ?? [];
  if (bucket === undefined) throw new ArchiveUnusable('The address of an archive in S3 is s3://bucket or s3://bucket/prefix.');
  const prefix = path.replace(/\/+$/, '');
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}

/** Body that ended before its announced length, or was cut. */
class BrokenBody extends Error {}

async function readLimited(name: string, body: AsyncIterable<Uint8Array>, announced: number | undefined): Promise<Buffer> {
  const tooLarge = () => new ArchiveCorrupt(name, `has more than the ${MAX_VALUE_BYTES} bytes that were expected at most`);
  if ((announced ?? 0) > MAX_VALUE_BYTES) throw tooLarge();
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of body) {
      size += part.byteLength;
      if (size > MAX_VALUE_BYTES) throw tooLarge();
      parts.push(part);
    }
  } catch (error) {
    throw error instanceof ArchiveCorrupt ? error : new BrokenBody(`the body broke off after ${size} bytes`, { cause: error });
  }
  if (announced !== undefined && size !== announced) throw new BrokenBody(`the body has ${size} bytes, ${announced} were announced`);
  return Buffer.concat(parts, size);
}
