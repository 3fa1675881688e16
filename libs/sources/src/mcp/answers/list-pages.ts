/** A server whose list has more pages may go on for ever. */
const MAX_PAGES = 500;
/** Lists that are read at a time, of a connection: more are of a client that gave up. */
const MAX_WALKS = 100;

/** One reading of a list, page after page. */
interface Walk {
  readonly asked: Set<string>;
  /** The cursor that its last answer gave. */
  next?: string | undefined;
}

/** The pages of lists of tools that are read: those of a server may lead round in a circle, or have no end. */
export class ListPages {
  /** Why pages of the list that was read last were left out. */
  fault: string | undefined;
  /** By the id of the last request of each. */
  private readonly walks = new Map<string, Walk>();

  /** A page is asked for; the first one has no cursor. */
  asks(id: string, cursor: unknown): void {
    const [last, before] = [...this.walks].find(([, { next }]) => typeof cursor === 'string' && next === cursor) ?? [];
    if (last !== undefined) this.walks.delete(last);
    this.walks.set(id, { asked: new Set([...(before?.asked ?? []), ...(typeof cursor === 'string' ? [cursor] : [])]) });
    const [oldest] = this.walks.keys();
    if (this.walks.size > MAX_WALKS && oldest !== undefined) this.walks.delete(oldest);
  }

  /** The cursor of the next page to read, after the answer to a request. */
  next(id: string, cursor: unknown): string | undefined {
    const walk = this.walks.get(id) ?? { asked: new Set() };
    this.fault = faultOf(cursor, walk.asked);
    if (typeof cursor === 'string' && cursor !== '' && this.fault === undefined) return (walk.next = cursor);
    this.walks.delete(id);
    return undefined;
  }
}

function faultOf(cursor: unknown, asked: ReadonlySet<string>): string | undefined {
  if (cursor === undefined || cursor === '') return undefined;
  if (typeof cursor !== 'string') return 'the cursor of its list of tools is no text: later pages were left out';
  if (asked.has(cursor)) return 'the cursor of its list of tools repeats itself: later pages were left out';
  if (asked.size >= MAX_PAGES - 1) return `its list of tools has more than ${MAX_PAGES} pages: later ones were left out`;
  return undefined;
}
