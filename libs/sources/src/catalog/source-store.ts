import { ALL_TENANTS, AnnouncedSource, PinnedTool, SourceRules, StoredSource, type AnnouncedTool } from '#contracts';
import type { ChainableCommander } from 'ioredis';
import { keys, redisNow, sha256Hex, type RedisConnection } from '#redis';
import { definitionText } from '../definitions/definition-text.js';
import { authorizedSource } from '../oauth/authorized-source.js';
import { sourceKey, type SourceId } from '../source-id.js';
import { leaveScript } from './leave-script.js';
import { pinScript } from './pin-script.js';
import { withdrawRemovedScript } from './withdraw-removed-script.js';

/** A source that renames its tools all the time must not fill Redis. */
const MAX_PINS = 20_000;
/** Accepted tools outlive their announcement: all of a tenant take at most so many times the room of its lists. */
const PINNED_SHARE = 4;
/** Bytes of a pin besides its text. */
const PIN_BYTES = 200;
/** Field of the source's address among its pins: no tool has an empty name. */
const ADDRESS = '';
/** No digest: a pin that no tool has. */
const NOT_ACCEPTED = 'not accepted';

/** A catalog entry with the digests that were accepted of its tools. */
export interface PinnedSource {
  readonly entry: AnnouncedSource;
  /** Digests by raw name; empty for a source that is not pinned. */
  readonly pins: Readonly<Record<string, string>>;
}

/** Sealed authorizations that a change removed, by the definitions that they belong to. The issuers still take their tokens. */
type EndedAuthorizations = ReadonlyMap<StoredSource, string>;
type SourceOrigin = SourceId & Pick<AnnouncedSource, 'origin'>;

/** Definitions, catalog entries and pins of tool sources in Redis. Every change raises the revision. */
export class SourceStore {
  constructor(private readonly redis: RedisConnection) {}

  async revision(): Promise<string> {
    return (await this.redis.get(keys.sourceRevision())) ?? '0';
  }

  /** Stored definitions, without those that cannot be read. */
  async definitions(): Promise<StoredSource[]> {
    const texts = await this.redis.hvals(keys.sourceDefinitions());
    return texts.flatMap((text) => readable(StoredSource, text) ?? []);
  }

  async definition(id: SourceId): Promise<StoredSource | undefined> {
    const text = await this.redis.hget(keys.sourceDefinitions(), sourceKey(id));
    return text === null ? undefined : StoredSource.parse(JSON.parse(text));
  }

  async rules(): Promise<SourceRules> {
    return readable(SourceRules, (await this.redis.get(keys.sourceRules())) ?? '{}') ?? SourceRules.parse({});
  }

  async putDefinition(source: StoredSource): Promise<EndedAuthorizations> {
    const field = fieldOf(source);
    const text = await this.redis.hget(keys.sourceDefinitions(), field);
    const before = text === null ? undefined : readable(StoredSource, text);
    const after = withAuthorized(source, before);
    const ending = hasOtherTokens(before, after) ? [field] : [];
    const change = this.ending(ending).hset(keys.sourceDefinitions(), field, JSON.stringify(after));
    await this.resetPins(change, field, before, after);
    return ended(ending, await change.incr(keys.sourceRevision()).exec());
  }

  /** The sources of the config file: those that it does not have any more are removed. Sources added over HTTP stay. */
  async replaceConfigured(sources: readonly StoredSource[], rules: SourceRules): Promise<EndedAuthorizations> {
    const wanted = new Map(sources.map((it) => [fieldOf(it), StoredSource.safeParse(it).data ?? it]));
    const [texts, rulesText] = await Promise.all([this.redis.hgetall(keys.sourceDefinitions()), this.redis.get(keys.sourceRules())]);
    const stored = new Map(Object.entries(texts).map(([field, text]) => [field, readable(StoredSource, text)]));
    const gone = [...stored].filter(([field, it]) => !wanted.has(field) && it?.origin === 'config');
    const changed = [...wanted].filter(([field, it]) => definitionText(it) !== definitionText(stored.get(field)));
    if (gone.length + changed.length === 0 && rulesText === JSON.stringify(rules)) return new Map();
    const ending = [...gone, ...changed.filter(([field, it]) => hasOtherTokens(stored.get(field), it))].map(([field]) => field);
    const change = this.ending(ending).set(keys.sourceRules(), JSON.stringify(rules));
    for (const [field] of gone)
      for (const key of [keys.sourceDefinitions(), keys.sourceEntries(), keys.sourceRevisions()]) change.hdel(key, field);
    for (const [field, it] of changed) {
      const before = stored.get(field);
      const after = withAuthorized(it, before);
      change.hset(keys.sourceDefinitions(), field, JSON.stringify(after));
      await this.resetPins(change, field, before, after);
    }
    return ended(ending, await change.incr(keys.sourceRevision()).exec());
  }

  /** Removes definition, entry and pins: a source that is added again is seen for the first time. */
  async remove(id: SourceId): Promise<EndedAuthorizations> {
    const field = sourceKey(id);
    const answers = await this.ending([field])
      .hdel(keys.sourcePinnedBytes(id.tenantId), field)
      .hdel(keys.sourceDefinitions(), field)
      .hdel(keys.sourceEntries(), field)
      .hdel(keys.sourceRevisions(), field)
      .del(keys.sourcePins(field), keys.sourcePinned(field), keys.sourceAlive(field))
      .incr(keys.sourceRevision())
      .exec();
    return ended([field], answers);
  }

  /** Deletes what was announced of a source after its definition was removed; nothing of one that has a definition. */
  async withdrawRemoved({ tenantId, name }: SourceId): Promise<void> {
    const field = sourceKey({ tenantId, name });
    const shared = [keys.sourceDefinitions(), keys.sourceEntries(), keys.sourceRevisions(), keys.sourcePinnedBytes(tenantId)];
    const own = [keys.sourcePins(field), keys.sourcePinned(field), keys.sourceAlive(field)];
    await withdrawRemovedScript.run(this.redis, [...shared, keys.sourceRevision(), ...own], [field]);
  }

  /** True if there are accepted tools of the source, even after all its announcers are gone. */
  async hasPins(id: SourceId): Promise<boolean> {
    return (await this.redis.exists(keys.sourcePins(sourceKey(id)))) === 1;
  }

  /** Counts an announcer of the entry for so long. */
  async join(id: SourceId, announcer: string, ttlMs: number): Promise<void> {
    const key = keys.sourceGateways(sourceKey(id));
    await this.redis.zadd(key, (await redisNow(this.redis)) + ttlMs, announcer);
    await this.redis.pexpire(key, 10 * ttlMs);
  }

  /** Removes the entry once its last announcer leaves. Keeps the pins: an announcer may come back. */
  async leave(id: SourceId, announcer: string): Promise<void> {
    const field = sourceKey(id);
    const counted = [keys.sourceEntries(), keys.sourceRevisions(), keys.sourceAlive(field), keys.sourceRevision()];
    await leaveScript.run(this.redis, [keys.sourceGateways(field), ...counted], [field, announcer]);
  }

  /**
   * Replaces the entry, after new tools were pinned. With `ttlMs` it vanishes unless `renew` is called in time. False when
   * tools were left out because the tenant's lists are too large: there may be room for them later.
   */
  async announce(offer: AnnouncedSource, ttlMs?: number): Promise<boolean> {
    const field = sourceKey(offer);
    const entry = await this.withinBudget(offer);
    const tools = entry.pin ? await this.pinNew(entry, entry.tools) : entry.tools;
    const left = entry.tools.length - tools.length;
    const problem = `${left} tools are left out: what was accepted of the tenant's sources is too large (sourceRules.catalogBytes); remove sources that are not needed`;
    const problems = left === 0 ? entry.problems : [problem, ...entry.problems];
    const change = this.redis.multi();
    if (ttlMs !== undefined) change.set(keys.sourceAlive(field), '1', 'PX', ttlMs);
    await change
      .hset(keys.sourceEntries(), field, JSON.stringify({ ...entry, problems, tools, expires: ttlMs !== undefined }))
      .hincrby(keys.sourceRevisions(), field, 1)
      .incr(keys.sourceRevision())
      .exec();
    return entry.tools.length === offer.tools.length;
  }

  /** False: the entry has vanished; announce it again. */
  async renew(id: SourceId, ttlMs: number): Promise<boolean> {
    return (await this.redis.pexpire(keys.sourceAlive(sourceKey(id)), ttlMs)) === 1;
  }

  async isAlive(id: SourceId): Promise<boolean> {
    return (await this.redis.exists(keys.sourceAlive(sourceKey(id)))) === 1;
  }

  /** Revisions by `tenant/name`: each rises with a change of the entry or its pins. */
  revisions(): Promise<Record<string, string>> {
    return this.redis.hgetall(keys.sourceRevisions());
  }

  async entry(field: string): Promise<PinnedSource | undefined> {
    const text = await this.redis.hget(keys.sourceEntries(), field);
    const entry = text === null ? undefined : readable(AnnouncedSource, text);
    return entry && { entry, pins: entry.pin ? await this.redis.hgetall(keys.sourcePins(field)) : {} };
  }

  /** Accepted form of a tool; undefined if it was never seen. */
  async pinned(id: SourceId, rawName: string): Promise<PinnedTool | undefined> {
    const text = await this.redis.hget(keys.sourcePinned(sourceKey(id)), rawName);
    return text === null ? undefined : readable(PinnedTool, text);
  }

  async accept(source: SourceOrigin, tools: readonly AnnouncedTool[]): Promise<void> {
    await this.pin(source, tools, 'replace');
  }

  /**
   * Limits the tools of a tenant's own sources, which every process holds in memory. Two concurrent announcers may exceed it a
   * little.
   */
  private async withinBudget(offer: AnnouncedSource): Promise<AnnouncedSource> {
    const { tenantId, name } = offer;
    if (isOfOperator(offer)) return offer;
    const [{ catalogBytes }, definitions, fields] = await Promise.all([
      this.rules(),
      this.definitions(),
      this.redis.hkeys(keys.sourceEntries()),
    ]);
    const free = new Set(
      [name, ...definitions.flatMap((it) => (it.origin === 'config' && it.tenantId === tenantId ? it.definition.name : []))].map((it) =>
        sourceKey({ tenantId, name: it }),
      ),
    );
    const others = fields.filter((field) => field.startsWith(`${tenantId}/`) && !free.has(field));
    const sizes = await Promise.all(others.map((field) => this.redis.hstrlen(keys.sourceEntries(), field)));
    let left = catalogBytes - sizes.reduce((sum, size) => sum + size, 0);
    const tools = offer.tools.filter((tool) => (left -= Buffer.byteLength(JSON.stringify(tool))) >= 0);
    if (tools.length === offer.tools.length) return offer;
    const problem = `${offer.tools.length - tools.length} tools are left out: the lists of the tenant's sources are larger than ${catalogBytes} bytes (sourceRules.catalogBytes)`;
    return { ...offer, tools, problems: [problem, ...offer.problems] };
  }

  /** Begins a change that removes the authorizations of these sources; `ended` reads them from its answers. */
  private ending(fields: readonly string[]): ChainableCommander {
    const change = this.redis.multi();
    for (const field of fields) change.hget(keys.sourceDefinitions(), field).hget(keys.sourceAuthorizations(), field);
    for (const field of fields) change.hdel(keys.sourceAuthorizations(), field);
    return change;
  }

  /** Resets pins if the address changes: tools of a server at another address wait for a person. */
  private async resetPins(change: ChainableCommander, field: string, before: StoredSource | undefined, after: StoredSource): Promise<void> {
    const pins = await this.redis.hgetall(keys.sourcePins(field));
    const [was, is] = [pins[ADDRESS] ?? (before && addressOf(before)), addressOf(after)];
    change.hset(keys.sourcePins(field), ADDRESS, is);
    if (was === undefined || was === is) return;
    for (const rawName of Object.keys(pins)) if (rawName !== ADDRESS) change.hset(keys.sourcePins(field), rawName, NOT_ACCEPTED);
    change.hincrby(keys.sourceRevisions(), field, 1);
  }

  /** Bytes that the pins of the tenant may grow by; those of sources of the operator may always. */
  private async roomForPins(source: AnnouncedSource): Promise<number> {
    if (isOfOperator(source)) return Infinity;
    const [{ catalogBytes }, used] = await Promise.all([this.rules(), this.redis.hvals(keys.sourcePinnedBytes(source.tenantId))]);
    return used.reduce((room, bytes) => room - Number(bytes), PINNED_SHARE * catalogBytes);
  }

  /** The tools without those for which there is no room. Two announcers at once agree: the first pin stays. */
  private async pinNew(source: AnnouncedSource, tools: readonly AnnouncedTool[]): Promise<AnnouncedTool[]> {
    const field = sourceKey(source);
    const pins = await this.redis.hgetall(keys.sourcePins(field));
    if (tools.every(({ rawName }) => Object.hasOwn(pins, rawName))) return [...tools];
    let room = MAX_PINS - Object.keys(pins).length;
    let bytes = await this.roomForPins(source);
    const fits = (tool: AnnouncedTool) => room-- > 0 && (bytes -= Buffer.byteLength(pinText(tool)) + PIN_BYTES) >= 0;
    const kept = tools.filter((tool) => Object.hasOwn(pins, tool.rawName) || fits(tool));
    const fresh = kept.filter(({ rawName }) => !Object.hasOwn(pins, rawName));
    if (fresh.length > 0) await this.pin(source, fresh, 'keep');
    return kept;
  }

  private async pin(source: SourceOrigin, tools: readonly AnnouncedTool[], present: 'replace' | 'keep'): Promise<void> {
    const field = sourceKey(source);
    const [pins, pinned, bytes] = [keys.sourcePins(field), keys.sourcePinned(field), keys.sourcePinnedBytes(source.tenantId)];
    const names = [pins, pinned, bytes, keys.sourceRevisions(), keys.sourceRevision()];
    const pinnedTools = tools.flatMap((it) => [it.rawName, it.digest, pinText(it)]);
    await pinScript.run(this.redis, names, [field, present, isOfOperator(source) ? '' : PIN_BYTES, ...pinnedTools]);
  }
}

/** True for sources that count for no tenant. */
function isOfOperator({ tenantId, origin }: SourceOrigin): boolean {
  return origin === 'config' || tenantId === ALL_TENANTS;
}

function pinText({ digest, descriptor }: AnnouncedTool): string {
  return JSON.stringify({ digest, descriptor } satisfies PinnedTool);
}

/** Digest of the server's address or program, which answers calls of the tools. */
function addressOf({ definition }: StoredSource): string {
  const { kind, url, command, env, document, path, bundle }: Partial<Record<string, unknown>> = definition;
  return sha256Hex(JSON.stringify({ kind, url, command, env, document, path, bundle }));
}

/** Tokens for one server are not those of another. */
function hasOtherTokens(before: StoredSource | undefined, after: StoredSource): boolean {
  return before !== undefined && authorizedSource(before)?.binding !== authorizedSource(after)?.binding;
}

/** Definitions and authorizations before the change, from the answers of its transaction. */
function ended(fields: readonly string[], answers: readonly (readonly [unknown, unknown])[] | null): EndedAuthorizations {
  const texts = fields.map((_, index) => [answers?.[2 * index]?.[1], answers?.[2 * index + 1]?.[1]]);
  return new Map(
    texts.flatMap(([definition, authorization]) => {
      const stored = typeof definition === 'string' ? readable(StoredSource, definition) : undefined;
      return stored === undefined || typeof authorization !== 'string' ? [] : [[stored, authorization] as const];
    }),
  );
}

function fieldOf({ tenantId, definition: { name } }: StoredSource): string {
  return sourceKey({ tenantId, name });
}

/** Changes of an authorization stay, while its tokens do. */
function withAuthorized(source: StoredSource, before: StoredSource | undefined): StoredSource {
  if (before?.authorized === undefined || hasOtherTokens(before, source)) return source;
  return { ...source, authorized: before.authorized };
}

/** Parsed text; undefined for a text of a newer version or a damaged one, which must not hide all others. */
function readable<T>(schema: { safeParse(value: unknown): { readonly data?: T | undefined } }, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
