/** A server whose list has more pages may go on for ever. */
const MAX_PAGES = 500;

/** The pages of a list of tools that is read: those of a server may lead round in a circle, or have no end. */
export class ListPages {
  /** Why pages of the last list were left out. */
  fault: string | undefined;
  private readonly asked = new Set<string>();

  /** A page is asked for; the first one has no cursor. */
  asks(cursor: unknown): void {
    if (typeof cursor === 'string') return void this.asked.add(cursor);
    this.asked.clear();
    this.fault = undefined;
  }

  /** The cursor of the next page to read. */
  next(cursor: unknown): string | undefined {
    if (cursor === undefined || cursor === '') return undefined;
    if (typeof cursor !== 'string') this.fault = 'the cursor of its list of tools is no text: later pages were left out';
    else if (this.asked.has(cursor)) this.fault = 'the cursor of its list of tools repeats itself: later pages were left out';
    else if (this.asked.size >= MAX_PAGES - 1) this.fault = `its list of tools has more than ${MAX_PAGES} pages: later ones were left out`;
    else return cursor;
    return undefined;
  }
}
