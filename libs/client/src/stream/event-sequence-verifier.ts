import type { CallEvent, EndData } from '#contracts';

/** Position of an event after the previous ones. A call's events are numbered 1, 2, 3 … without a gap (`callver`). */
export type SequencePosition = 'next' | 'seen' | 'gap';

/** Tracks the received events of one call, and verifies them against its End. */
export class EventSequenceVerifier {
  private version = 0;
  /** Contents of the Updates of each attempt, as the JSON texts that the digest covers. */
  private attempts: string[][] = [];

  /** Records the event if it is `next`; others change nothing. */
  take(event: CallEvent): SequencePosition {
    const position = this.skip(event.callver);
    if (position !== 'next') return position;
    if (event.type === 'call.start') this.attempts.push([]);
    if (event.type === 'call.update') this.attempts.at(-1)?.push(JSON.stringify(event.data.content));
    return 'next';
  }

  /** Like `take`, for an event of an unknown type. */
  skip(callver: number): SequencePosition {
    if (callver <= this.version) return 'seen';
    if (callver > this.version + 1) return 'gap';
    this.version = callver;
    return 'next';
  }

  /** Number of the last event seen. */
  get seen(): number {
    return this.version;
  }

  /**
   * Error as a sentence; undefined if every Update was received unaltered. End has the count and digest of the Updates of all
   * attempts; in earlier releases those of the last attempt, or none.
   */
  async verify({ updates: claimed }: EndData): Promise<string | undefined> {
    if (claimed === undefined) return undefined;
    const [all, last] = [await proofOf(this.attempts), await proofOf(this.attempts.slice(-1))];
    const matches = (seen: Proof) => seen.count === claimed.count && (seen.sha256 === undefined || seen.sha256 === claimed.sha256);
    if (matches(all) || matches(last)) return undefined;
    return all.count === claimed.count
      ? `the SHA-256 of its ${claimed.count} updates is ${all.sha256}, its End says ${claimed.sha256}`
      : `its End counts ${claimed.count} updates, ${all.count} were received`;
  }
}

interface Proof {
  readonly count: number;
  readonly sha256: string | undefined;
}

/** Count and digest of Updates. The digest of an attempt starts with that of the earlier attempts, if these had Updates. */
async function proofOf(attempts: readonly (readonly string[])[]): Promise<Proof> {
  const some = attempts.filter((texts) => texts.length > 0);
  let sha256 = some.length === 0 ? await sha256Hex('') : undefined;
  for (const [index, texts] of some.entries())
    sha256 = await sha256Hex((index === 0 ? '' : `${sha256}\n`) + texts.map((text) => `${text}\n`).join(''));
  return { count: some.flat().length, sha256 };
}

/** SHA-256 of a text. Undefined without Web Crypto: browsers do not offer it to plain-HTTP pages of other machines. */
async function sha256Hex(text: string): Promise<string | undefined> {
  const { subtle }: Partial<Pick<typeof crypto, 'subtle'>> = crypto;
  if (subtle === undefined) return undefined;
  const digest = await subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
