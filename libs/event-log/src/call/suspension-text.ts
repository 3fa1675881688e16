import type { ResumeReason } from '../event-log.port.js';

/** `timer`, `children` and `input`: what the call waits or waited for; `woken` and `given`: how that wait was ended. */
export type SuspensionKind = 'timer' | 'children' | 'input' | 'woken' | 'given' | 'none';

export interface SuspensionFacts {
  /** A child ended while the call ran: when it is suspended until its children end, it is due at once. */
  readonly woken: boolean;
  readonly kind: SuspensionKind;
  /** Sequence number of the event that suspended the call; 0 when none did. */
  readonly seq: number;
  /** Sequence number of the event with its input; 0 when it has none. */
  readonly inputSeq: number;
}

const KIND_OF: Readonly<Record<string, SuspensionKind>> = { t: 'timer', c: 'children', i: 'input', w: 'woken', g: 'given' };
const LETTER_OF: Readonly<Record<SuspensionKind, string>> = { timer: 't', children: 'c', input: 'i', woken: 'w', given: 'g', none: '-' };

/** What the snapshot keeps of the last suspension: four words, or nothing. apply-transitions.lua writes the same. */
export function suspensionText({ woken, kind, seq, inputSeq }: SuspensionFacts): string {
  return !woken && kind === 'none' ? '' : `${woken ? 1 : 0} ${LETTER_OF[kind]} ${seq} ${inputSeq}`;
}

/** The inverse of `suspensionText`. */
export function parseSuspension(text: string): SuspensionFacts {
  const [woken, letter = '-', seq, inputSeq] = text.split(' ');
  return { woken: woken === '1', kind: KIND_OF[letter] ?? 'none', seq: Number(seq ?? 0), inputSeq: Number(inputSeq ?? 0) };
}

/** Why a call that was suspended so runs again. */
export function resumeReason(kind: SuspensionKind): ResumeReason {
  return kind === 'woken' ? 'woken' : kind === 'given' ? 'input' : 'timer';
}
