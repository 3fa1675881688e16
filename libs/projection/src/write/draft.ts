import type { RedisConnection } from '#redis';

/** A command as the apply script runs it. */
export interface Command {
  readonly name: string;
  readonly key: string;
  readonly args: readonly (string | number | Buffer)[];
}

/** Fields that one HSET of a script takes: Lua cannot unpack lists without end. */
const FIELDS_AT_ONCE = 500;

/**
 * Fields of hashes as they are in Redis, with changes over them that are not written yet. Whoever reads a field has to
 * ask for it before: `want` some, `load`, then `text` and `bytes`.
 */
export class Draft {
  private readonly loaded = new Map<string, Map<string, Buffer | string | undefined>>();
  private readonly wanted = new Map<string, Set<string>>();
  private readonly changed = new Map<string, Set<string>>();
  private readonly scores = new Map<string, Map<string, number>>();
  private readonly ends = new Map<string, number>();
  private readonly others: Command[] = [];

  constructor(private readonly redis: RedisConnection) {}

  want(key: string, ...fields: string[]): void {
    const known = this.loaded.get(key);
    for (const field of fields) {
      if (known?.has(field)) continue;
      let wanted = this.wanted.get(key);
      if (wanted === undefined) this.wanted.set(key, (wanted = new Set()));
      wanted.add(field);
    }
  }

  async load(): Promise<void> {
    const asked = [...this.wanted].map(([key, fields]) => [key, [...fields]] as const);
    this.wanted.clear();
    await Promise.all(
      asked.map(async ([key, fields]) => {
        const values = await this.redis.hmgetBuffer(key, ...fields);
        const hash = this.hash(key);
        fields.forEach((field, index) => hash.set(field, values[index] ?? undefined));
      }),
    );
  }

  /** Throws when the field was not loaded: a fault in the code that asks. */
  bytes(key: string, field: string): Buffer | undefined {
    const value = this.value(key, field);
    return typeof value === 'string' ? Buffer.from(value) : value;
  }

  text(key: string, field: string): string | undefined {
    const value = this.value(key, field);
    return typeof value === 'string' ? value : value?.toString('utf8');
  }

  /** Undefined takes the field away. */
  set(key: string, field: string, value: Buffer | string | undefined): void {
    this.hash(key).set(field, value);
    let changed = this.changed.get(key);
    if (changed === undefined) this.changed.set(key, (changed = new Set()));
    changed.add(field);
  }

  /** The score of a member of a sorted set; the last one counts. */
  score(key: string, member: string, score: number): void {
    const scores = this.scores.get(key) ?? new Map<string, number>();
    this.scores.set(key, scores.set(member, score));
  }

  /** The key goes at that second since the epoch. */
  expire(key: string, at: number): void {
    this.ends.set(key, at);
  }

  /** To be run after the changes of hashes. */
  also(name: string, key: string, ...args: (string | number | Buffer)[]): void {
    this.others.push({ name, key, args });
  }

  /** All changes. */
  commands(): Command[] {
    const commands: Command[] = [];
    for (const [key, fields] of this.changed) {
      const set: (string | Buffer)[] = [];
      const gone: string[] = [];
      for (const field of fields) {
        const value = this.value(key, field);
        if (value === undefined) gone.push(field);
        else set.push(field, value);
      }
      for (let at = 0; at < set.length; at += 2 * FIELDS_AT_ONCE)
        commands.push({ name: 'HSET', key, args: set.slice(at, at + 2 * FIELDS_AT_ONCE) });
      for (let at = 0; at < gone.length; at += FIELDS_AT_ONCE)
        commands.push({ name: 'HDEL', key, args: gone.slice(at, at + FIELDS_AT_ONCE) });
    }
    for (const [key, scores] of this.scores) {
      const args = [...scores].flatMap(([member, score]) => [score, member]);
      for (let at = 0; at < args.length; at += 2 * FIELDS_AT_ONCE)
        commands.push({ name: 'ZADD', key, args: args.slice(at, at + 2 * FIELDS_AT_ONCE) });
    }
    for (const [key, at] of this.ends) commands.push({ name: 'EXPIREAT', key, args: [at] });
    return [...commands, ...this.others];
  }

  private value(key: string, field: string): Buffer | string | undefined {
    const hash = this.loaded.get(key);
    if (!hash?.has(field)) throw new Error(`The field ${field} of ${key} is read but was not loaded.`);
    return hash.get(field);
  }

  private hash(key: string): Map<string, Buffer | string | undefined> {
    let hash = this.loaded.get(key);
    if (hash === undefined) this.loaded.set(key, (hash = new Map<string, Buffer | string | undefined>()));
    return hash;
  }
}
