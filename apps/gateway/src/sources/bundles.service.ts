import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { BUNDLE_UPLOAD_BYTES, ProblemError, type McpBundle, type Principal, type UploadedBundle } from '#contracts';
import { sha256Hex, type RedisConnection } from '#redis';
import { assertConfigOfKey, inspectBundle, settingsOf, UploadedBundles } from '#sources';
import { SourceConfigService } from '../governance/source-config.service.js';
import { checkReprDigest } from '../platform/http/repr-digest.js';
import { MemoryGuard } from '../platform/memory-guard.service.js';
import { FAIL_FAST_REDIS, LOGGER } from '../platform/tokens.js';

/** Most uploads in the memory of a gateway; one per tenant. */
const AT_ONCE = 3;
const RETRY_MS = 2_000;

/** MCP bundles that administrators of a tenant upload. */
@Injectable()
export class BundlesService {
  private readonly bundles: UploadedBundles;
  private readonly uploading = new Set<string>();

  constructor(
    private readonly settings: SourceConfigService,
    private readonly memory: MemoryGuard,
    @Inject(FAIL_FAST_REDIS) redis: RedisConnection,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    this.bundles = new UploadedBundles(redis);
  }

  /** `digest`: header Repr-Digest. @throws ProblemError for a file that is no bundle, or without room for it */
  async upload({ tenantId, keyId }: Principal, body: AsyncIterable<Buffer>, digest: string | undefined): Promise<UploadedBundle> {
    const { rules } = this.settings;
    if (!rules.allowCommands || !rules.kinds.includes('mcp'))
      throw new ProblemError('forbidden', 'Bundles start programs on the workers: set sourceRules.allowCommands in the config file first');
    this.memory.check('low');
    if (this.uploading.has(tenantId) || this.uploading.size >= AT_ONCE)
      throw new ProblemError('overloaded', 'Another bundle is uploaded now: send the same request again later', { retryAfterMs: RETRY_MS });
    this.uploading.add(tenantId);
    try {
      const bytes = await read(body);
      const id = { tenantId, sha256: sha256Hex(bytes) };
      checkReprDigest(digest, id.sha256);
      const manifest = await inspectBundle(bytes).catch((error: unknown) => {
        throw new ProblemError('invalid_request', `The bundle cannot be used: ${messageOf(error)}`);
      });
      const used = await this.bundles.used(id);
      if (used + bytes.byteLength > rules.bundleBytes)
        throw new ProblemError(
          'conflict',
          `The bundles of the tenant would have ${used + bytes.byteLength} bytes, expected at most ${rules.bundleBytes} (sourceRules.bundleBytes): remove a source that uses one; unused ones are removed after a day`,
        );
      await this.bundles.put(id, bytes, manifest);
      const { name, version, description } = manifest;
      this.log.warn({ bundle: id.sha256, tenant: tenantId, key: keyId }, 'a bundle was uploaded');
      return { sha256: id.sha256, bytes: bytes.byteLength, name, version, description, settings: settingsOf(manifest) };
    } finally {
      this.uploading.delete(tenantId);
    }
  }

  /**
   * Keeps an uploaded bundle for a source; does nothing for a bundle from elsewhere.
   *
   * @throws ProblemError if the bundle was not uploaded, or if its settings do not match its manifest
   */
  async use({ tenantId }: Principal, bundle: McpBundle | undefined): Promise<void> {
    if (!isUploaded(bundle)) return;
    const id = { tenantId, sha256: bundle.sha256 };
    const manifest = await this.bundles.manifest(id);
    if (manifest === undefined)
      throw invalid('/bundle/sha256', `no bundle with this digest is stored for the tenant: upload it with POST /v1/bundles`);
    try {
      assertConfigOfKey(manifest, bundle.config);
    } catch (error) {
      throw invalid('/bundle/config', messageOf(error));
    }
    await this.bundles.keep(id);
  }

  /** Releases the bundle of a removed source, unless it is one of `others`, the bundles of all remaining sources. */
  async release(tenantId: string, bundle: McpBundle | undefined, others: readonly McpBundle[]): Promise<void> {
    if (!isUploaded(bundle) || others.some((other) => isUploaded(other) && other.sha256 === bundle.sha256)) return;
    await this.bundles.release({ tenantId, sha256: bundle.sha256 });
  }
}

function isUploaded(bundle: McpBundle | undefined): bundle is McpBundle {
  return bundle !== undefined && bundle.url === undefined && bundle.path === undefined;
}

async function read(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > BUNDLE_UPLOAD_BYTES) throw new ProblemError('payload_too_large', `Expected at most ${BUNDLE_UPLOAD_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

function invalid(pointer: string, message: string): ProblemError {
  return new ProblemError('invalid_request', `The source is not valid: ${message}`, { errors: [{ pointer, message }] });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) : String(error);
}
