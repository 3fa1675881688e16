import type { ResumeReason } from '../event-log.port.js';

/** Reason of a wait (`timer`, `children`, `input`), or how the wait ended (`woken`, `given`). */
export type SuspensionKind = 'timer' | 'children' | 'input' | 'woken' | 'given' | 'none';

export interface SuspensionFacts {
  /** A child ended while the call ran: a suspension until its children end is then due at once. */
  readonly woken: boolean;
  readonly kind: SuspensionKind;
  /** Sequence number of the event that suspended the call; 0 for none. */
  readonly seq: number;
  /** Sequence number of the event with its input; 0 for none. */
  readonly inputSeq: number;
}

const KIND_OF: Readonly<Record<string, SuspensionKind>> = { t: 'timer', c: 'children', i: 'input', w: 'woken', g: 'given' };
const LETTER_OF: Readonly<Record<SuspensionKind, string>> = { timer: 't', children: 'c', input: 'i', woken: 'w', given: 'g', none: '-' };

/** The last suspension as the snapshot stores it: four words, or nothing. apply-transitions.lua writes the same. */
export function suspensionText({ woken, kind, seq, inputSeq }: SuspensionFacts): string {
  return !woken && kind === 'none' ? '' : `${woken ? 1 : 0} ${LETTER_OF[kind]} ${seq} ${inputSeq}`;
}

/** Inverse of `suspensionText`. */
export function parseSuspension(text: string): SuspensionFacts {
  const [woken, letter = '-', seq, inputSeq] = text.split(' ');
  return { woken: woken === '1', kind: KIND_OF[letter] ?? 'none', seq: Number(seq ?? 0), inputSeq: Number(inputSeq ?? 0) };
}

/** Reason for which a suspended call runs again. */
export function resumeReason(kind: SuspensionKind): ResumeReason {
  return kind === 'woken' ? 'woken' : kind === 'given' ? 'input' : 'timer';
}
