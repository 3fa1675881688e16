export interface Segment {
  readonly from: number;
  readonly to: number;
}

/** A part of the scale, such as idle time, drawn shorter than it was. */
export interface Idle extends Segment {
  /** Position as shares of the width. */
  readonly left: number;
  readonly right: number;
}

export interface TimeScale {
  /** Milliseconds since 1970 → share of the width, 0 to 1. */
  readonly place: (at: number) => number;
  readonly idles: readonly Idle[];
  /** Positions of time labels: begins of busy intervals, and places within long ones, that are far enough apart. */
  readonly marks: readonly { readonly at: number; readonly left: number }[];
}

/** An idle interval of at least this share of the busy time is shortened … */
const CUT_FROM = 0.1;
/** … to this share. */
const CUT_TO = 0.04;
/** The distance of time labels as a share of the width, unless the caller knows how many fit. */
const MARK_DISTANCE = 0.16;

/**
 * A time scale that shortens long idle intervals, so that ten calls in two hours are not a row of dots. Busy intervals and short
 * pauses are linear.
 */
export function timeScale(stretches: readonly Segment[], markDistance: number = MARK_DISTANCE): TimeScale {
  const busy = merged(stretches);
  const work = Math.max(
    1,
    busy.reduce((sum, { from, to }) => sum + to - from, 0),
  );
  const pieces: { from: number; to: number; size: number; idle: boolean }[] = [];
  for (const [index, stretch] of busy.entries()) {
    const before = busy[index - 1];
    if (before) {
      const pause = stretch.from - before.to;
      const idle = pause > work * CUT_FROM;
      pieces.push({ from: before.to, to: stretch.from, size: idle ? work * CUT_TO : pause, idle });
    }
    pieces.push({ ...stretch, size: stretch.to - stretch.from, idle: false });
  }
  const whole = Math.max(
    1,
    pieces.reduce((sum, { size }) => sum + size, 0),
  );
  let left = 0;
  const placed = pieces.map((piece) => {
    const begin = left;
    left += piece.size / whole;
    return { ...piece, left: begin, right: left };
  });
  return {
    place: (at) => {
      const piece = pieceAt(placed, at);
      if (piece === undefined) return 0;
      const share = piece.to === piece.from ? 0 : Math.min(1, Math.max(0, (at - piece.from) / (piece.to - piece.from)));
      return piece.left + share * (piece.right - piece.left);
    },
    idles: placed.filter(({ idle }) => idle),
    marks: marksOf(
      placed.filter(({ idle }) => !idle),
      markDistance,
    ),
  };
}

/** The first piece that ends at `at` or later, else the last: by halves, since thousands of bars ask. */
function pieceAt<Piece extends Segment>(placed: readonly Piece[], at: number): Piece | undefined {
  let low = 0;
  let high = placed.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at <= (placed[middle]?.to ?? 0)) high = middle;
    else low = middle + 1;
  }
  return placed[low];
}

function marksOf(busy: readonly Idle[], distance: number): { at: number; left: number }[] {
  const marks: { at: number; left: number }[] = [];
  for (const { from, to, left, right } of busy) {
    const steps = Math.max(1, Math.floor((right - left) / distance));
    for (let step = 0; step < steps; step++) {
      const here = left + ((right - left) * step) / steps;
      const last = marks.at(-1);
      const hasRoom = here === 0 || here <= 1 - distance / 2;
      if ((last === undefined || here - last.left >= distance - 1e-9) && hasRoom)
        marks.push({ at: from + ((to - from) * step) / steps, left: here });
    }
  }
  return marks;
}

/** Merges intervals that touch or overlap; sorted. */
function merged(stretches: readonly Segment[]): Segment[] {
  const joined: { from: number; to: number }[] = [];
  for (const { from, to } of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else joined.push({ from, to: Math.max(from, to) });
  }
  return joined;
}
