import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Checkpointer,
  DropSigner,
  ensureSigningKey,
  openArchive,
  readSigningKey,
  verifyArchive,
  type ArchiveStore,
  type Fault,
} from '#archive';
import { BlobStore, CallStore, EventLog } from '#event-log';
import { createRedis, partitionNames, sha256Hex, type RedisConnection } from '#redis';
import {
  ArchivedLog,
  ArchiveRetention,
  PartitionArchiver,
  type ArchiveDays,
  type CallOwner,
  type ContentKeys,
  type RetainedKeys,
} from '#sealing';
import { aCall, aSubmission, author, endOf } from './sample-calls.js';

type Keys = ContentKeys & RetainedKeys;

export interface InstallationOptions {
  readonly redisUrl: string;
  readonly partitions: number;
  /** Default: a folder of its own. */
  readonly archiveUrl?: string;
  /** File of the signing key. Default: a key of its own. */
  readonly keyFile?: string;
  readonly keys?: Keys;
  /** Tenants whose content is encrypted in the archive. */
  readonly erasable?: readonly string[];
}

export const DAY_MS = 24 * 3_600_000;

/** A log, its signed archive, and what a projector does with them, step by step and at any time. */
export class ArchivedInstallation {
  private constructor(
    private readonly options: InstallationOptions,
    readonly folder: string,
    readonly keyFile: string,
    readonly redis: RedisConnection,
    readonly log: EventLog,
    readonly store: ArchiveStore,
    readonly published: ArchiveStore,
  ) {}

  static async open(options: InstallationOptions): Promise<ArchivedInstallation> {
    const redis = createRedis(options.redisUrl);
    const folder = mkdtempSync(join(tmpdir(), 'toolyard-archived-'));
    const log = await EventLog.open(redis, { partitions: options.partitions });
    const store = await openArchive(options.archiveUrl ?? `file://${folder}/archive`);
    const published = await openArchive(`file://${folder}/published`);
    const { keyFile = join(folder, 'key') } = options;
    await ensureSigningKey(keyFile);
    return new ArchivedInstallation(options, folder, keyFile, redis, log, store, published);
  }

  get redisUrl(): string {
    return this.options.redisUrl;
  }

  /** A call with a large output that ends. */
  async run(tenantId: string, text = 'content', owner: CallOwner = {}): Promise<string> {
    const callId = await this.submit(tenantId, text, owner);
    await this.end(callId, text);
    return callId;
  }

  async submit(tenantId: string, text = 'content', owner: CallOwner = {}): Promise<string> {
    const callId = this.log.newCallId(tenantId);
    const submitted = aSubmission({ arguments: { text } });
    await this.log.accept(aCall(callId, { meta: { tenantId, tool: 'echo', ...owner }, submitted }));
    return callId;
  }

  async end(callId: string, text = 'content'): Promise<void> {
    const bytes = Buffer.from(text.repeat(20_000));
    await new BlobStore(this.redis).put(callId, 'output', bytes);
    await this.log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    const output = { ref: 'output' as const, sha256: sha256Hex(bytes), bytes: bytes.length, preview: text };
    const data = { ...endOf('completed'), output };
    await this.log.end({ callId, guard: { by: 'worker', fence: 1, writeSeq: 1 }, data, author });
  }

  /** Archives and trims all that there is, and signs it. */
  async archive(): Promise<void> {
    const { keys, erasable = [] } = this.options;
    for (const name of this.names()) {
      const content = { keys, tenants: () => erasable };
      const archiver = new PartitionArchiver(this.redis, this.store, name, { maxAgeMs: 0, maxCalls: 0 }, content);
      while (await archiver.step({ nowMs: Date.now() + 7_200_000, segmentMs: 0, isFull: false }));
    }
    await this.sign();
  }

  async sign(): Promise<void> {
    const signer = await readSigningKey(this.keyFile);
    await new Checkpointer({ store: this.store, signer, publishTo: this.published, partitions: this.names() }).sign();
  }

  /** A round of retention so many days from now. */
  async retain(
    daysOf: ArchiveDays,
    inDays: number,
    {
      store = this.store,
      deleteRows,
      policy = () => daysOf,
    }: { store?: ArchiveStore; deleteRows?: () => Promise<unknown>; policy?: () => ArchiveDays } = {},
  ): Promise<number> {
    const signer = new DropSigner({ store, signer: await readSigningKey(this.keyFile), publishTo: this.published });
    const { partitions, keys } = this.options;
    const now = () => Date.now() + inDays * DAY_MS;
    const place = { redis: this.redis, store, signer, keys, partitions };
    const retention = new ArchiveRetention({ ...place, policy, now, deleteRows });
    return (await retention.round()).droppedSegments;
  }

  archivedLog(): ArchivedLog {
    return new ArchivedLog(this.store, this.options.keys);
  }

  /** Everything that readers see of a call; undefined when there is none. */
  async read(callId: string): Promise<unknown> {
    const calls = new CallStore(this.redis, this.archivedLog());
    const call = await calls.read(callId);
    if (call === undefined) return undefined;
    const [events, output] = [await calls.events(callId), await calls.blob(callId, 'output')];
    return JSON.parse(JSON.stringify({ call, events, output: output?.toString() }));
  }

  async faults(): Promise<Fault[]> {
    const faults: Fault[] = [];
    await verifyArchive({ store: this.store, published: this.published, report: (fault) => faults.push(fault) });
    return faults;
  }

  names(): string[] {
    return partitionNames(this.options.partitions);
  }

  async close(): Promise<void> {
    await this.log.close();
    this.redis.disconnect();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
