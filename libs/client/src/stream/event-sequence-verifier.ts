import type { CallEvent, EndData } from '#contracts';

/** How an event stands to those before it. A call's events are numbered 1, 2, 3 … without a hole (`callver`). */
export type SequencePosition = 'next' | 'seen' | 'gap';

/** Which events of one call were seen, and whether they add up to what its End says. */
export class EventSequenceVerifier {
  private version = 0;
  /** By attempt, the contents of its Updates as the JSON texts that the digest is over. */
  private attempts: string[][] = [];

  /** Only what is `next` counts as seen afterwards. */
  take(event: CallEvent): SequencePosition {
    if (event.callver <= this.version) return 'seen';
    if (event.callver > this.version + 1) return 'gap';
    this.version = event.callver;
    if (event.type === 'call.start') this.attempts.push([]);
    if (event.type === 'call.update') this.attempts.at(-1)?.push(JSON.stringify(event.data.content));
    return 'next';
  }

  /** The number of the last event seen. */
  get seen(): number {
    return this.version;
  }

  /**
   * What is missing or altered, as a sentence; undefined when all is there. End proves the Updates of all attempts; one
   * that an earlier release wrote proves those of the last attempt, or none.
   */
  async verify({ updates: claimed }: EndData): Promise<string | undefined> {
    if (claimed === undefined) return undefined;
    const [all, last] = [await provedBy(this.attempts), await provedBy(this.attempts.slice(-1))];
    const proves = (seen: Proof) => seen.count === claimed.count && (seen.sha256 === undefined || seen.sha256 === claimed.sha256);
    if (proves(all) || proves(last)) return undefined;
    return all.count === claimed.count
      ? `the SHA-256 of its ${claimed.count} updates is ${all.sha256}, its End says ${claimed.sha256}`
      : `its End counts ${claimed.count} updates, ${all.count} were received`;
  }
}

interface Proof {
  readonly count: number;
  readonly sha256: string | undefined;
}

/** The digest of an attempt begins with that of the attempts before it, when these had Updates. */
async function provedBy(attempts: readonly (readonly string[])[]): Promise<Proof> {
  const some = attempts.filter((texts) => texts.length > 0);
  let sha256 = some.length === 0 ? await sha256Hex('') : undefined;
  for (const [index, texts] of some.entries())
    sha256 = await sha256Hex((index === 0 ? '' : `${sha256}\n`) + texts.map((text) => `${text}\n`).join(''));
  return { count: some.flat().length, sha256 };
}

/** Undefined where there is no Web Crypto: browsers keep it from pages that came over plain HTTP from another machine. */
async function sha256Hex(text: string): Promise<string | undefined> {
  const { subtle }: Partial<Pick<typeof crypto, 'subtle'>> = crypto;
  if (subtle === undefined) return undefined;
  const digest = await subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
