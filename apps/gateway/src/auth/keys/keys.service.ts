import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import {
  KEY_LIMITS,
  ProblemError,
  type ApiKey,
  type ApiKeyConfig,
  type CreateKeyBody,
  type IssuedKey,
  type Principal,
  type RotateKeyBody,
} from '#contracts';
import { sha256Hex } from '#redis';
import { personText } from '../../platform/event-origin.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { LOGGER } from '../../platform/tokens.js';
import { AdminActs } from '../admin-acts.service.js';
import { ApiKeyStore } from '../api-key-store.service.js';
import { CreatedKeys } from './created-keys.service.js';
import { KeyRecords, type KeyRecord, type ReadRecord } from './key-records.service.js';
import { assertNotWider, inheritedRights } from './key-rights.js';
import { isCreatedKeyId, newKeyId, newKeyText } from './key-text.js';
import { KeyUses } from './key-uses.service.js';
import { configKeyView, keyView, rightsOf } from './key-views.js';

type RevocationListener = (tenantId: string, keyId: string) => Promise<void>;

/** Administration of a tenant's keys. A key can never create, or get the text of, a key with more rights. */
@Injectable()
export class KeysService {
  private readonly revocationListeners = new Set<RevocationListener>();

  constructor(
    private readonly records: KeyRecords,
    private readonly created: CreatedKeys,
    private readonly apiKeys: ApiKeyStore,
    private readonly uses: KeyUses,
    private readonly acts: AdminActs,
    @Inject(LOGGER) private readonly log: Logger,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'keyRatePerMinute'>,
  ) {}

  /** The listener is called after each revocation, before the response, and again when it is repeated. */
  onRevoked(listener: RevocationListener): void {
    this.revocationListeners.add(listener);
  }

  async list({ tenantId }: Principal): Promise<ApiKey[]> {
    const fromConfig = this.apiKeys.keysOfConfig(tenantId).map((entry) => configKeyView(entry));
    const made = (await this.records.list(tenantId)).filter(({ record }) => !isForgotten(record)).map(({ record }) => keyView(record));
    return this.withUses([...fromConfig, ...made]);
  }

  async get({ tenantId }: Principal, id: string): Promise<ApiKey> {
    const entry = this.configKey(tenantId, id);
    return this.withUse(entry === undefined ? keyView((await this.find(tenantId, id)).record) : configKeyView(entry));
  }

  /**
   * Creates a key. Steps: check the rights → store the key → end it if the caller's own key was revoked meanwhile, so that no
   * key outlives a concurrent revocation → record the act.
   * @throws ProblemError `forbidden` for more rights than the caller's, `quota_exceeded` for too many keys, `unauthenticated`
   */
  async create(caller: Principal, { name, ...wanted }: CreateKeyBody): Promise<IssuedKey> {
    const { tenantId, keyId } = caller;
    const rights = inheritedRights(caller, wanted);
    assertNotWider(caller, rights, this.config.keyRatePerMinute);
    assertInFuture(rights.expiresAt);
    const createdByName = await this.nameOf(caller);
    const act = this.acts.admit(caller, { revokes: false });
    const text = newKeyText();
    const record: KeyRecord = {
      ...rights,
      name,
      id: newKeyId(),
      tenantId,
      createdAt: new Date().toISOString(),
      createdBy: keyId,
      ...(createdByName === undefined ? {} : { createdByName }),
      people: this.peopleOf(caller),
      secrets: [{ sha256: sha256Hex(text) }],
    };
    const ended = (await this.records.list(tenantId)).filter((it) => isForgotten(it.record)).map((it) => it.record.id);
    await this.records.create(record, ended);
    await this.created.announce();
    const lost = this.apiKeys.rejection(caller);
    if (lost !== undefined) {
      await this.end(await this.find(tenantId, record.id), caller);
      throw lost;
    }
    this.log.warn({ tenant: tenantId, key: keyId, created: record.id, scopes: record.scopes }, 'an API key was made');
    await act.record('admin.key_created', { target: record.id, after: actView(record) });
    return { ...keyView(record), key: text };
  }

  /** @throws ProblemError `forbidden` for a key with more rights than the caller, `conflict` for an ended key or one of the config */
  async rotate(caller: Principal, id: string, { overlapMs }: RotateKeyBody): Promise<IssuedKey> {
    const read = await this.findOwn(caller, id);
    const { record } = read;
    if (keyView(record).status !== 'active') throw new ProblemError('conflict', `The key ${id} has ended: make a new one`);
    assertNotWider(caller, rightsOf(record), this.config.keyRatePerMinute);
    const act = this.acts.admit(caller, { revokes: false });
    const now = Date.now();
    const text = newKeyText();
    const end = now + overlapMs;
    const before = record.secrets
      .map(({ sha256, until }) => ({ sha256, until: new Date(Math.min(end, until === undefined ? end : Date.parse(until))).toISOString() }))
      .filter(({ until }) => Date.parse(until) > now);
    const changed: KeyRecord = {
      ...record,
      rotatedAt: new Date(now).toISOString(),
      people: [...new Set([...record.people, ...this.peopleOf(caller)])],
      secrets: [{ sha256: sha256Hex(text) }, ...before].slice(0, KEY_LIMITS.secrets),
    };
    await this.records.change(read, changed);
    await this.created.announce();
    this.log.warn({ tenant: record.tenantId, key: caller.keyId, rotated: id, overlapMs }, 'an API key was rotated');
    await act.record('admin.key_rotated', { target: id, before: actView(record), after: { ...actView(changed), overlapMs } });
    return { ...(await this.withUse(keyView(changed))), key: text };
  }

  /** Revokes a key. Any administrator of the tenant may revoke any of its keys. */
  async revoke(caller: Principal, id: string): Promise<void> {
    const read = await this.findOwn(caller, id);
    const { record } = read;
    const act = this.acts.admit(caller, { revokes: record.revokedAt === undefined });
    await this.end(read, caller);
    // Records also an earlier revocation, whose record may be missing.
    await act.record('admin.key_revoked', { target: id, before: actView(record) });
  }

  /** Revokes the keys whose text a person knows, including concurrently created ones, the caller's own last. @returns their ids */
  async revokeOf(caller: Principal, person: string): Promise<string[]> {
    const revoked: string[] = [];
    for (;;) {
      const records = (await this.records.list(caller.tenantId)).map(({ record }) => record);
      const open = records.filter(({ people, revokedAt }) => revokedAt === undefined && people.includes(person)).map(({ id }) => id);
      if (open.length === 0) return revoked;
      const ids = open.toSorted((one, other) => Number(one === caller.keyId) - Number(other === caller.keyId));
      for (const id of ids) await this.revoke(caller, id);
      revoked.push(...ids);
    }
  }

  /** Ends the key, effective on this gateway on return. Idempotent. */
  private async end(read: ReadRecord, { keyId, person }: Principal): Promise<void> {
    const { record } = read;
    if (record.revokedAt === undefined) {
      const byName = person === undefined ? {} : { revokedByName: personText(person) };
      await this.records.change(read, { ...record, revokedAt: new Date().toISOString(), revokedBy: keyId, ...byName });
      this.log.warn({ tenant: record.tenantId, key: keyId, revoked: record.id }, 'an API key was revoked');
    }
    await this.created.announce();
    await Promise.all([...this.revocationListeners].map((listener) => listener(record.tenantId, record.id)));
  }

  private peopleOf({ keyId }: Principal): string[] {
    return [...(this.apiKeys.peopleOf(keyId) ?? [`apikey:${keyId}`])];
  }

  /** Name of the caller: the signed-in person, or the purpose of a key created over HTTP. */
  private async nameOf({ person, keyId, tenantId }: Principal): Promise<string | undefined> {
    if (person !== undefined) return personText(person);
    return isCreatedKeyId(keyId) ? (await this.records.get(tenantId, keyId))?.record.name : undefined;
  }

  private configKey(tenantId: string, id: string): ApiKeyConfig | undefined {
    return this.apiKeys.keysOfConfig(tenantId).find((entry) => entry.id === id);
  }

  private async findOwn({ tenantId }: Principal, id: string): Promise<ReadRecord> {
    if (this.configKey(tenantId, id) !== undefined)
      throw new ProblemError('conflict', `The key ${id} is in the config file or TOOLYARD_API_KEY: change it there`);
    return this.find(tenantId, id);
  }

  private async find(tenantId: string, id: string): Promise<ReadRecord> {
    const read = await this.records.get(tenantId, id);
    if (read === undefined || isForgotten(read.record)) throw new ProblemError('resource_not_found', 'No API key with this id');
    return read;
  }

  private async withUses(found: readonly ApiKey[]): Promise<ApiKey[]> {
    const times = await this.uses.read(found.map(({ id }) => id));
    return found.map((key, index) => {
      const time = times[index];
      return time === undefined ? key : { ...key, lastUsedAt: new Date(time).toISOString() };
    });
  }

  private async withUse(key: ApiKey): Promise<ApiKey> {
    return (await this.withUses([key]))[0] ?? key;
  }
}

/** Record without texts and digests. */
function actView({ secrets: _secrets, ...record }: KeyRecord) {
  return record;
}

/** True once no call of the key can wait for approval: calls live at most a week, and until then its people must be known. */
function isForgotten({ revokedAt, expiresAt }: KeyRecord): boolean {
  const end = revokedAt ?? expiresAt;
  return end !== undefined && Date.parse(end) + KEY_LIMITS.keptMs < Date.now();
}

function assertInFuture(expiresAt: string | undefined): void {
  if (expiresAt === undefined || Date.parse(expiresAt) > Date.now()) return;
  const message = 'expected a time in the future';
  throw new ProblemError('invalid_request', `expiresAt: ${message}`, { errors: [{ pointer: '/expiresAt', message }] });
}
