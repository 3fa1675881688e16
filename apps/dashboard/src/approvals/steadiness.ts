/** Least time that a decision is shown before it accepts an answer, which could be meant for the earlier content. */
export const STEADY_MS = 500;

/** A button goes down by one pixel while it is pressed. */
const SLACK_PX = 3;

/** Decision as drawn. */
export interface Drawn {
  /** The question and the labels of its buttons. */
  readonly what: string;
  /** Left, top, right and bottom of each button in the window. */
  readonly inWindow: readonly number[];
  /** The same in the document, which a person's scrolling does not change. */
  readonly inDocument: readonly number[];
}

/**
 * Checks that a decision has been drawn alike for `STEADY_MS`. Content that is scrolled, or stays in the window during scrolling, is
 * steady.
 */
export class Steadiness {
  private reference: Drawn | undefined;
  private changedAt = 0;

  /** Called with each frame, and before an answer is accepted. */
  isSteady(drawn: Drawn, now: number): boolean {
    if (this.reference === undefined || isOther(this.reference, drawn)) {
      // Stays until the next change, so that a slow move adds up.
      this.reference = drawn;
      this.changedAt = now;
    } else this.reference = followed(this.reference, drawn);
    return now - this.changedAt >= STEADY_MS;
  }
}

function isOther(a: Drawn, b: Drawn): boolean {
  return a.what !== b.what || (hasMoved(a.inWindow, b.inWindow) && hasMoved(a.inDocument, b.inDocument));
}

/** The reference after a person's scrolling, so that a later move back to an old place in the window counts as a move. */
function followed(reference: Drawn, { inWindow, inDocument }: Drawn): Drawn {
  if (hasMoved(reference.inWindow, inWindow)) return { ...reference, inWindow };
  return hasMoved(reference.inDocument, inDocument) ? { ...reference, inDocument } : reference;
}

function hasMoved(before: readonly number[], after: readonly number[]): boolean {
  return before.length !== after.length || before.some((edge, index) => Math.abs(edge - (after[index] ?? 0)) > SLACK_PX);
}
