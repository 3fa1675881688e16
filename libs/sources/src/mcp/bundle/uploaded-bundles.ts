import { randomUUID } from 'node:crypto';
import { keys, type RedisConnection } from '#redis';
import { BundleManifest } from './bundle-manifest.js';

/** A bundle that no source uses is kept this long. */
const UNUSED_SECONDS = 86_400;
/** Redis serves other requests between two of them. */
const CHUNK_BYTES = 262_144;
const [MANIFEST, BYTES] = ['manifest', 'bytes'];

export interface BundleId {
  readonly tenantId: string;
  readonly sha256: string;
}

/** Bundles that keys have uploaded, in Redis. Each belongs to one tenant and is there whole or not at all. */
export class UploadedBundles {
  constructor(private readonly redis: RedisConnection) {}

  /** Stores it for a day; one that is there already stays as it is. The caller has checked `budget` with `used`. */
  async put({ tenantId, sha256 }: BundleId, bytes: Buffer, manifest: BundleManifest): Promise<void> {
    const [draft, bundle] = [keys.uploadedBundle(tenantId, `draft-${randomUUID()}`), keys.uploadedBundle(tenantId, sha256)];
    await this.redis.hset(draft, { [MANIFEST]: JSON.stringify(manifest), [BYTES]: bytes.byteLength });
    await this.redis.expire(draft, UNUSED_SECONDS);
    for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES)
      await this.redis.hset(draft, String(at), bytes.subarray(at, at + CHUNK_BYTES));
    await this.redis.hset(keys.uploadedBundles(tenantId), sha256, bytes.byteLength);
    const isNew = await this.redis.renamenx(draft, bundle);
    if (isNew === 1) return;
    await this.redis.del(draft);
    // Bundles in use never expire, which GT preserves.
    await this.redis.expire(bundle, UNUSED_SECONDS, 'GT');
  }

  /** Bytes of all bundles of the tenant but this one. */
  async used({ tenantId, sha256 }: BundleId): Promise<number> {
    const index = keys.uploadedBundles(tenantId);
    let sum = 0;
    for (const [other, bytes] of Object.entries(await this.redis.hgetall(index))) {
      if (other === sha256) continue;
      if ((await this.redis.exists(keys.uploadedBundle(tenantId, other))) === 1) sum += Number(bytes);
      else await this.redis.hdel(index, other);
    }
    return sum;
  }

  /** Undefined for one that was not uploaded for the tenant, or is not kept any more. */
  async manifest({ tenantId, sha256 }: BundleId): Promise<BundleManifest | undefined> {
    const text = await this.redis.hget(keys.uploadedBundle(tenantId, sha256), MANIFEST);
    return text === null ? undefined : BundleManifest.parse(JSON.parse(text));
  }

  /** A source uses it. */
  async keep({ tenantId, sha256 }: BundleId): Promise<void> {
    await this.redis.persist(keys.uploadedBundle(tenantId, sha256));
  }

  /** Starts the expiry of a bundle that no source uses any more. */
  async release({ tenantId, sha256 }: BundleId): Promise<void> {
    await this.redis.expire(keys.uploadedBundle(tenantId, sha256), UNUSED_SECONDS);
  }

  /** Reads the bytes for a source that uses them. @throws Error with a text for the operator if the bundle is missing */
  async *read({ tenantId, sha256 }: BundleId): AsyncGenerator<Buffer> {
    const key = keys.uploadedBundle(tenantId, sha256);
    const bytes = Number((await this.redis.hget(key, BYTES)) ?? Number.NaN);
    for (let at = 0; !(at >= bytes); at += CHUNK_BYTES) {
      const chunk = Number.isNaN(bytes) ? null : await this.redis.hgetBuffer(key, String(at));
      if (chunk === null) throw new Error(`the bundle ${sha256} is not stored any more: upload it again`);
      yield chunk;
    }
  }
}
