import type { CallEvent, EndData } from '#contracts';

/** How an event stands to those before it. A call's events are numbered 1, 2, 3 … without a hole (`callver`). */
export type Place = 'next' | 'seen' | 'after_a_hole';

/** Which events of one call were seen, and whether they add up to what its End says. */
export class CallTrack {
  private version = 0;
  /** The contents of the Updates of the last attempt, as the JSON texts that the digest is over. */
  private updates: string[] = [];

  /** Only what is `next` counts as seen afterwards. */
  take(event: CallEvent): Place {
    if (event.callver <= this.version) return 'seen';
    if (event.callver > this.version + 1) return 'after_a_hole';
    this.version = event.callver;
    if (event.type === 'call.start') this.updates = [];
    if (event.type === 'call.update') this.updates.push(JSON.stringify(event.data.content));
    return 'next';
  }

  /** The number of the last event seen. */
  get seen(): number {
    return this.version;
  }

  /** What is missing or altered, as a sentence; undefined when all is there. End proves the Updates of the last attempt. */
  async fault({ updates: claimed }: EndData): Promise<string | undefined> {
    if (claimed === undefined) return undefined;
    if (claimed.count !== this.updates.length) return `its End counts ${claimed.count} updates, ${this.updates.length} were received`;
    const sha256 = await sha256Hex(this.updates.map((text) => `${text}\n`).join(''));
    return sha256 === undefined || sha256 === claimed.sha256
      ? undefined
      : `the SHA-256 of its ${claimed.count} updates is ${sha256}, its End says ${claimed.sha256}`;
  }
}

/** Undefined where there is no Web Crypto: browsers keep it from pages that came over plain HTTP from another machine. */
async function sha256Hex(text: string): Promise<string | undefined> {
  const { subtle }: Partial<Pick<typeof crypto, 'subtle'>> = crypto;
  if (subtle === undefined) return undefined;
  const digest = await subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
