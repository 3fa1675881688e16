import type { CodeToken } from './highlight.js';
import type { RiskyPart } from './risky-parts.js';

/** A piece of code that is of one token and all in a marked part, or all outside. */
export interface MarkedPiece extends CodeToken {
  readonly part?: RiskyPart | undefined;
}

/** Tokens, cut where a part begins or ends. `parts` are in order and do not overlap. */
export function piecesOf(tokens: readonly CodeToken[], parts: readonly RiskyPart[]): readonly MarkedPiece[] {
  if (parts.length === 0) return tokens;
  let start = 0;
  return tokens.flatMap(({ text, token }) => {
    const [from, to] = [start, start + text.length];
    start = to;
    const cuts = parts.flatMap((part) => [part.from, part.to]).filter((cut) => cut > from && cut < to);
    return [from, ...cuts].map((begin, index) => ({
      text: text.slice(begin - from, (cuts[index] ?? to) - from),
      token,
      part: parts.find((part) => part.from <= begin && begin < part.to),
    }));
  });
}
