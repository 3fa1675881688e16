import { isAbsolute, relative } from 'node:path';
import { readWorkspaceFile, resolveFile } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { type AnswerPlace, fileWithin } from '../server-answers.js';

const LIMIT = { bytes: 1_048_576, hint: 'Use file_search.' };
const LINE_CHARACTERS = 300;

/** Rows and columns count from 1. */
export interface PlaceLine {
  readonly path: string;
  readonly row: number;
  readonly column: number;
  /** Line without its indent. */
  readonly line: string;
}

/** Places from a server, limited to files that the call may read. */
export class PlaceLines {
  private readonly texts = new Map<string, Promise<readonly string[] | undefined>>();
  private hidden = 0;

  constructor(private readonly ctx: ToolContext) {}

  /** Each place once, in the order of paths, rows and columns. */
  sorted(places: readonly AnswerPlace[]): Omit<PlaceLine, 'line'>[] {
    const found = new Map<string, Omit<PlaceLine, 'line'>>();
    for (const { uri, range } of places) {
      const path = this.pathOf(uri);
      const place = { path: path ?? '', row: range.start.line + 1, column: range.start.character + 1 };
      if (path === undefined) this.hidden += 1;
      else found.set(`${path}:${place.row}:${place.column}`, place);
    }
    return [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.row - b.row || a.column - b.column));
  }

  /** Undefined for a place that the call may not read, or that is not there. */
  async withLine(place: Omit<PlaceLine, 'line'>): Promise<PlaceLine | undefined> {
    const reading = this.texts.get(place.path) ?? this.linesOf(place.path);
    this.texts.set(place.path, reading);
    const line = (await reading)?.[place.row - 1];
    if (line === undefined) this.hidden += 1;
    return line === undefined ? undefined : { ...place, line: this.cut(line.trim()) };
  }

  /** Notes below results. */
  notes(): string[] {
    return this.hidden === 0
      ? []
      : [`${this.hidden} ${this.hidden === 1 ? 'place' : 'places'} left out: outside of the workspace, or not readable`];
  }

  /** Path relative to the workspace; undefined outside of it. */
  private pathOf(uri: string): string | undefined {
    const path = fileWithin(this.ctx.workspace.root, uri);
    return path === undefined || !isAbsolute(path) ? undefined : relative(this.ctx.workspace.root, path);
  }

  private async linesOf(path: string): Promise<readonly string[] | undefined> {
    try {
      const { bytes } = await readWorkspaceFile(resolveFile(this.ctx.workspace, path, 'read'), LIMIT, this.ctx.signal);
      return bytes.includes(0) ? undefined : bytes.toString('utf8').split('\n');
    } catch (error) {
      this.ctx.signal.throwIfAborted();
      if (!(error instanceof ToolError)) throw error;
      return undefined;
    }
  }

  private cut(line: string): string {
    return line.length > LINE_CHARACTERS ? this.ctx.redact(line.slice(0, LINE_CHARACTERS), true) : line;
  }
}
