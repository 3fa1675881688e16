/** A server whose list has more pages may go on for ever. */
const MAX_PAGES = 500;
/** Lists that are read at a time, of a connection: more are of a client that gave up. */
const MAX_WALKS = 100;

/** Characters of all pages of a list. */
const MAX_CHARACTERS = 33_554_432;
export const MAX_LISTED = 20_000;

interface Size {
  readonly characters: number;
  readonly tools: number;
}

/** Reading of a list, page after page. */
interface Walk extends Size {
  readonly asked: Set<string>;
  /** The cursor that its last answer gave. */
  next?: string | undefined;
}

/** The pages of lists of tools that are read: those of a server may lead round in a circle, or have no end. */
export class ListPages {
  /** Why pages of the list that was read last were left out. */
  fault: string | undefined;
  /** True if the server refused a later page, which it may answer next time. */
  isPartial = false;
  /** Readings by the id of the last request of each. */
  private readonly walks = new Map<string, Walk>();

  /** A page is asked for; the first one has no cursor. */
  asks(id: string, cursor: unknown): void {
    const [last, before] = [...this.walks].find(([, { next }]) => typeof cursor === 'string' && next === cursor) ?? [];
    if (last !== undefined) this.walks.delete(last);
    const asked = new Set([...(before?.asked ?? []), ...(typeof cursor === 'string' ? [cursor] : [])]);
    this.walks.set(id, { ...(before ?? NOTHING), asked, next: undefined });
    const [oldest] = this.walks.keys();
    if (this.walks.size > MAX_WALKS && oldest !== undefined) this.walks.delete(oldest);
  }

  /** True if pages were read before the one of this request. */
  isLater(id: string): boolean {
    return (this.walks.get(id)?.asked.size ?? 0) > 0;
  }

  /** The cursor of the next page to read, after the answer to a request. */
  next(id: string, cursor: unknown, size: Size = NOTHING): string | undefined {
    const before = this.walks.get(id) ?? { ...NOTHING, asked: new Set<string>() };
    const walk = { ...before, characters: before.characters + size.characters, tools: before.tools + size.tools };
    this.fault = faultOf(cursor, walk);
    this.isPartial = false;
    if (typeof cursor !== 'string' || cursor === '' || this.fault !== undefined) {
      this.walks.delete(id);
      return undefined;
    }
    this.walks.set(id, { ...walk, next: cursor });
    return cursor;
  }

  /** A later page is an error. */
  refused(id: string, why: string): void {
    this.walks.delete(id);
    this.isPartial = true;
    this.fault = `a page of its list of tools cannot be read (${why.slice(0, 200)}): ${LEFT_OUT}`;
  }
}

const NOTHING: Size = { characters: 0, tools: 0 };
const LEFT_OUT = 'later pages were left out';

function faultOf(cursor: unknown, { asked, characters, tools }: Walk): string | undefined {
  if (tools > MAX_LISTED) return `its list has more than ${MAX_LISTED} tools: later ones were left out`;
  if (cursor === undefined || cursor === '') return undefined;
  if (typeof cursor !== 'string') return `the cursor of its list of tools is no text: ${LEFT_OUT}`;
  if (asked.has(cursor)) return `the cursor of its list of tools repeats itself: ${LEFT_OUT}`;
  if (asked.size >= MAX_PAGES - 1) return `its list of tools has more than ${MAX_PAGES} pages: later ones were left out`;
  if (characters > MAX_CHARACTERS) return `its list of tools is larger than ${MAX_CHARACTERS} bytes: ${LEFT_OUT}`;
  return undefined;
}
