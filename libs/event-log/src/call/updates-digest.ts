import { createHash, type Hash } from 'node:crypto';

/** Stored digest of a call without updates. */
export const NO_UPDATES = '0';

/** `after` if it counts exactly the next update, else empty: the worker counted an update that the log lacks, so the digest is unknown. */
export function countedUpdates(before: string, after: string): string {
  const [old, now] = [before, after].map((updates) => Number(/^\d+/.exec(updates)?.[0] ?? NaN));
  return old !== undefined && now === old + 1 ? after : '';
}

/**
 * Number of Updates of a call in all attempts, and the SHA-256 by which readers prove them. The digest is over the JSON texts
 * of their `content`, each followed by a line feed; in a later attempt it begins with the previous digest, if any, as 64
 * hexadecimal digits and a line feed. Old updates are never read again.
 *
 * Stored as text: `0`, or the number, a blank and the digest. Empty: an update never reached the log.
 */
export class UpdatesDigest {
  private readonly known: boolean;
  private count: number;
  private readonly before: string;
  private hash: Hash | undefined;

  /** `before`: digest of the previous attempts. */
  constructor(before: string) {
    const [count = '', sha256 = ''] = before.split(' ');
    this.known = before !== '';
    this.count = Number(count);
    this.before = sha256;
  }

  /** Adds an update and returns the new digest; `content` is its JSON text. */
  add(content: string): string {
    if (!this.known) return '';
    this.count += 1;
    this.hash ??= createHash('sha256').update(this.before === '' ? '' : `${this.before}\n`);
    this.hash.update(content).update('\n');
    return `${this.count} ${this.hash.copy().digest('hex')}`;
  }
}
