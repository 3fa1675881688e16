import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { StoredSource, type SourceAuthorization } from '#contracts';
import { firstText } from '../first-text.js';
import { keys, openText, redisNow, sealText, sha256Hex, type RedisConnection } from '#redis';
import { sourceKey, type SourceId } from '../source-id.js';
import { grant, release, replaceSame } from './authorization-scripts.js';
import { authorizedSource } from './authorized-source.js';
import { StartedAuthorization, Granted, hasSameClient, storedText } from './stored-authorization.js';

/** How long a person has at the issuer's page. */
export const BEGUN_MS = 600_000;
/** More than a renewal takes: one that takes longer cannot be stored over that of another. */
const RENEWAL_MS = 30_000;
const PURPOSE = 'toolyard source authorization';

/** An authorization as it is stored: what may be shown, and the sealed tokens. */
const Kept = z.object({
  by: z.string(),
  at: z.string(),
  scope: z.string().exactOptional(),
  /** Why a person is needed again. */
  refused: z.string().exactOptional(),
  sealed: z.string(),
});
type Kept = z.output<typeof Kept>;

/** An authorization and its text, by which changes of others are noticed. */
export interface KeptGrant {
  readonly text: string;
  readonly granted: Granted;
  /** Time of reading, by the clock of Redis: those of workers may differ. */
  readonly now: number;
}

export interface Stored {
  /** False where the source was removed or changed meanwhile. */
  readonly isStored: boolean;
  /** Tokens that no source has now. */
  readonly ended?: Granted | undefined;
}

/** Why there are no tokens. */
export class NotAuthorized extends Error {}

/** Authorizations of sources in Redis. Tokens are sealed with SOURCE_TOKEN_KEY, which Redis does not have. */
export class AuthorizationStore {
  constructor(
    private readonly redis: RedisConnection,
    private readonly secret: string | undefined,
  ) {}

  get isConfigured(): boolean {
    return this.secret !== undefined;
  }

  /** Time by the clock of Redis. */
  now(): Promise<number> {
    return redisNow(this.redis);
  }

  /** Only the same caller finds it again, once, by the state. */
  async begin(caller: string, state: string, begun: StartedAuthorization): Promise<void> {
    await this.redis.set(begunKey(caller, state), this.sealed(storedText(StartedAuthorization, begun), state), 'PX', BEGUN_MS);
  }

  async take(caller: string, state: string): Promise<StartedAuthorization | undefined> {
    const text = await this.redis.getdel(begunKey(caller, state));
    return text === null ? undefined : StartedAuthorization.parse(JSON.parse(this.opened(text, state)));
  }

  /**
   * Stores tokens. Workers that had none try the source at once. Tokens before of the same client have not ended: to revoke them
   * may end the new ones, too.
   */
  async grant(id: SourceId, binding: string, granted: Granted, by: string): Promise<Stored> {
    const unstored = { isStored: false, ended: granted };
    const field = sourceKey(id);
    const [definition, before] = await Promise.all([
      this.redis.hget(keys.sourceDefinitions(), field),
      this.redis.hget(keys.sourceAuthorizations(), field),
    ]);
    if (definition === null) return unstored;
    const source = StoredSource.parse(JSON.parse(definition));
    if (authorizedSource(source)?.binding !== binding) return unstored;
    const works = before !== null && Kept.parse(JSON.parse(before)).refused === undefined;
    const next = works ? definition : JSON.stringify({ ...source, authorized: randomUUID() } satisfies StoredSource);
    const kept = this.kept({ by, at: new Date().toISOString() }, granted, binding);
    const answer = await grant.run(
      this.redis,
      [keys.sourceDefinitions(), keys.sourceAuthorizations(), keys.sourceRevision()],
      [field, definition, next, JSON.stringify(kept)],
    );
    if (typeof answer !== 'string') return unstored;
    const replaced = this.tokensOf(answer, binding);
    return { isStored: true, ended: replaced && hasSameClient(replaced, granted) ? undefined : replaced };
  }

  /** @throws NotAuthorized where a person is needed */
  async read(id: SourceId, binding: string): Promise<KeptGrant> {
    if (this.secret === undefined) throw new NotAuthorized('SOURCE_TOKEN_KEY is not set in the environment of the worker');
    const [text, now] = await Promise.all([this.redis.hget(keys.sourceAuthorizations(), sourceKey(id)), this.now()]);
    if (text === null) throw new NotAuthorized('no person has authorized it');
    const { refused, sealed } = Kept.parse(JSON.parse(text));
    if (refused !== undefined) throw new NotAuthorized(refused);
    return { text, granted: this.open(sealed, binding), now };
  }

  /** Replaces the tokens; false where they were replaced or revoked meanwhile. */
  async replace(id: SourceId, binding: string, { text }: KeptGrant, granted: Granted): Promise<boolean> {
    const kept = this.kept(Kept.parse(JSON.parse(text)), granted, binding);
    return this.put(id, text, kept);
  }

  /** A person is needed again. The tokens are removed; false where they were replaced meanwhile. */
  async refuse(id: SourceId, { text }: KeptGrant, reason: string): Promise<boolean> {
    return this.put(id, text, { ...Kept.parse(JSON.parse(text)), refused: reason.slice(0, 500), sealed: '' });
  }

  /** Removes the authorization. The tokens, where they can be read. */
  async remove(id: SourceId, binding: string): Promise<Granted | undefined> {
    const [key, field] = [keys.sourceAuthorizations(), sourceKey(id)];
    return this.tokensOf(firstText(await this.redis.multi().hget(key, field).hdel(key, field).exec()), binding);
  }

  /** Tokens of an authorization that was removed; undefined where they cannot be read. */
  tokensOf(text: string | undefined, binding: string): Granted | undefined {
    if (text === undefined) return undefined;
    try {
      return this.open(Kept.parse(JSON.parse(text)).sealed, binding);
    } catch {
      return undefined;
    }
  }

  /** States of the sources, in their order. */
  async states(sources: readonly SourceId[]): Promise<SourceAuthorization[]> {
    if (sources.length === 0) return [];
    const texts = await this.redis.hmget(keys.sourceAuthorizations(), ...sources.map(sourceKey));
    return texts.map((text) => {
      if (text === null) return { state: 'needed' };
      const { by, at, scope, refused } = Kept.parse(JSON.parse(text));
      const facts = { by, at, ...(scope === undefined ? {} : { scope }) };
      return refused === undefined ? { state: 'granted', ...facts } : { state: 'needed', ...facts, reason: refused };
    });
  }

  /** True if this owner may renew the tokens; false while another one renews them. */
  async mayRenew(id: SourceId, owner: string): Promise<boolean> {
    return (await this.redis.set(keys.sourceRenewal(sourceKey(id)), owner, 'PX', RENEWAL_MS, 'NX')) === 'OK';
  }

  async renewed(id: SourceId, owner: string): Promise<void> {
    await release.run(this.redis, [keys.sourceRenewal(sourceKey(id))], [owner]);
  }

  private async put(id: SourceId, before: string, kept: Kept): Promise<boolean> {
    return (await replaceSame.run(this.redis, [keys.sourceAuthorizations()], [sourceKey(id), before, JSON.stringify(kept)])) === 1;
  }

  private kept({ by, at }: Pick<Kept, 'by' | 'at'>, granted: Granted, binding: string): Kept {
    const { scope } = granted;
    return { by, at, ...(scope === undefined ? {} : { scope }), sealed: this.sealed(storedText(Granted, granted), binding) };
  }

  private open(sealed: string, binding: string): Granted {
    try {
      return Granted.parse(JSON.parse(this.opened(sealed, binding)));
    } catch (error) {
      throw new NotAuthorized('its tokens are of another definition, or were stored with another SOURCE_TOKEN_KEY', { cause: error });
    }
  }

  private sealed(text: string, boundTo: string): string {
    return sealText(text, { secret: this.secret ?? '', purpose: PURPOSE, boundTo });
  }

  private opened(sealed: string, boundTo: string): string {
    return openText(sealed, { secret: this.secret ?? '', purpose: PURPOSE, boundTo });
  }
}

function begunKey(caller: string, state: string): string {
  return keys.sourceAuthorizing(sha256Hex(JSON.stringify([caller, state])));
}
