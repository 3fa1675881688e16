import {
  HeadObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { ArchiveCorrupt, ArchiveUnusable } from '../archive-errors.js';
import { s3Options } from './s3.config.js';
import { checkName, MAX_LISTED, MAX_VALUE_BYTES, type ArchiveStore } from './archive-store.port.js';

/** Written once when an archive is opened for writing, and tried again at each start. */
const CREATE_ONLY_CHECK = 'create-only-check.txt';

/** An archive in a bucket. Values are created with `If-None-Match: *`. */
class S3Store implements ArchiveStore {
  readonly label: string;

  constructor(
    private readonly client: S3Client,
    private readonly bucket: string,
    private readonly prefix: string,
  ) {
    this.label = `s3://${bucket}/${prefix}`;
  }

  async put(name: string, bytes: Uint8Array): Promise<'created' | 'exists'> {
    checkName(name);
    const request = new PutObjectCommand({ ...this.keyOf(name), Body: bytes, ContentLength: bytes.byteLength, IfNoneMatch: '*' });
    try {
      await this.client.send(request);
      return 'created';
    } catch (error) {
      if (statusOf(error) === 412) return 'exists';
      // Two writers at once: S3 refuses one of them before it knows which one wins.
      if (statusOf(error) === 409 && (await this.exists(name))) return 'exists';
      throw error;
    }
  }

  async get(name: string): Promise<Buffer | undefined> {
    checkName(name);
    try {
      const { Body, ContentLength } = await this.client.send(new GetObjectCommand(this.keyOf(name)));
      if (Body === undefined) return Buffer.alloc(0);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- in Node the body of an answer is a Readable
      return await readLimited(name, Body as AsyncIterable<Uint8Array>, ContentLength ?? 0);
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  async list(prefix: string, { after = '', limit = MAX_LISTED }: { after?: string; limit?: number } = {}): Promise<string[]> {
    const names: string[] = [];
    let start = after;
    while (names.length < limit) {
      const wanted = Math.min(limit - names.length, MAX_LISTED);
      const { Contents = [], IsTruncated } = await this.client.send(
        new ListObjectsV2Command({
          Bucket: this.bucket,
          Prefix: this.prefix + prefix,
          MaxKeys: wanted,
          ...(start === '' ? {} : { StartAfter: this.prefix + start }),
        }),
      );
      const page = Contents.map(({ Key = '' }) => Key.slice(this.prefix.length));
      names.push(...page);
      start = page.at(-1) ?? start;
      if (IsTruncated !== true || page.length === 0) break;
    }
    return names;
  }

  async delete(name: string): Promise<void> {
    checkName(name);
    await this.client.send(new DeleteObjectCommand(this.keyOf(name)));
  }

  /** @throws ArchiveUnusable when a second write of the same name is accepted */
  async checkCreateOnly(): Promise<void> {
    const bytes = Buffer.from('Shows that this store refuses to overwrite (If-None-Match: *). Keep it.\n');
    if ((await this.put(CREATE_ONLY_CHECK, bytes)) === 'exists') return;
    if ((await this.put(CREATE_ONLY_CHECK, bytes)) === 'exists') return;
    throw new ArchiveUnusable(
      `${this.label}: the store accepts a write with "If-None-Match: *" to a name that exists, so it could overwrite the archive. ` +
        'Use a store that supports conditional writes (AWS S3, MinIO, Ceph, R2), or a folder.',
    );
  }

  private async exists(name: string): Promise<boolean> {
    try {
      await this.client.send(new HeadObjectCommand(this.keyOf(name)));
      return true;
    } catch (error) {
      if (statusOf(error) === 404) return false;
      throw error;
    }
  }

  private keyOf(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.bucket, Key: this.prefix + name };
  }
}

export async function openS3(url: string, { readOnly }: { readOnly: boolean }): Promise<ArchiveStore> {
  const { bucket, prefix } = parseAddress(url);
  const store = new S3Store(new S3Client(s3Options()), bucket, prefix);
  if (!readOnly) await store.checkCreateOnly();
  return store;
}

function parseAddress(url: string): { bucket: string; prefix: string } {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})(?:\/(.*))?$/.exec(url) ?? [];
  if (bucket === undefined) throw new ArchiveUnusable('The address of an archive in S3 is s3://bucket or s3://bucket/prefix.');
  const prefix = path.replace(/\/+$/, '');
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}

async function readLimited(name: string, body: AsyncIterable<Uint8Array>, announced: number): Promise<Buffer> {
  const tooLarge = () => new ArchiveCorrupt(name, `has more than the ${MAX_VALUE_BYTES} bytes that were expected at most`);
  if (announced > MAX_VALUE_BYTES) throw tooLarge();
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.byteLength;
    if (size > MAX_VALUE_BYTES) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}
