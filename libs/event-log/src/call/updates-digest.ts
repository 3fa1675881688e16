import { createHash, type Hash } from 'node:crypto';

/** What is known of the updates of a call that has none. */
export const NO_UPDATES = '0';

/** `after` where it counts just the next update; else the worker counted one that the log does not have, and nothing is known any more. */
export function countedUpdates(before: string, after: string): string {
  const [old, now] = [before, after].map((updates) => Number(/^\d+/.exec(updates)?.[0] ?? NaN));
  return old !== undefined && now === old + 1 ? after : '';
}

/**
 * How many Updates a call has, in all attempts, and the SHA-256 by which readers prove them. It is over the JSON texts of
 * their `content`, each followed by a line feed; that of a later attempt begins with the digest of those before, when there
 * are any, as 64 hexadecimal digits and a line feed. So the first attempt's is a plain one, and old updates are never read again.
 *
 * Kept as text: `0`, or the number, a blank and the digest. Empty: an update never came to the log.
 */
export class UpdatesDigest {
  private readonly known: boolean;
  private count: number;
  private readonly before: string;
  private hash: Hash | undefined;

  /** `before`: of the attempts before. */
  constructor(before: string) {
    const [count = '', sha256 = ''] = before.split(' ');
    this.known = before !== '';
    this.count = Number(count);
    this.before = sha256;
  }

  /** With one more update; `content` is its JSON text. */
  add(content: string): string {
    if (!this.known) return '';
    this.count += 1;
    this.hash ??= createHash('sha256').update(this.before === '' ? '' : `${this.before}\n`);
    this.hash.update(content).update('\n');
    return `${this.count} ${this.hash.copy().digest('hex')}`;
  }
}
