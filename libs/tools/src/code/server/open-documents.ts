import { pathToFileURL } from 'node:url';
import { absolutePath, decodeText, readWorkspaceFile, resolveFile } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { languageOf } from '../languages.js';
import type { RequestOptions, ServerConnection } from './server-connection.js';

/** Most open documents; the least recently used one is closed. */
const MOST_OPEN = 16;
const LIMIT = { bytes: 1_048_576, hint: 'Such files are not given to language servers: use file_search.' };

/** Identifiers of the protocol that are not our names of languages. */
const LANGUAGE_IDS: Readonly<Record<string, string>> = { tsx: 'typescriptreact', jsx: 'javascriptreact', bash: 'shellscript' };

export interface OpenDocument {
  readonly path: string;
  readonly uri: string;
  readonly text: string;
  readonly version: number;
  /** The first version with this text. */
  readonly since: number;
}

/** The files that a server has open, which it takes from here and not from the disk. */
export class OpenDocuments {
  private readonly open = new Map<string, OpenDocument>();

  /** `onText` gets the URI of a file before the server gets another text of it than it had. */
  constructor(
    private readonly connection: Pick<ServerConnection, 'notify' | 'check'>,
    private readonly onText: (uri: string) => void = () => {},
  ) {}

  has(uri: string): boolean {
    return this.byUri(uri) !== undefined;
  }

  /** True if a report about a version refers to an older text of the file. */
  isOutdated(uri: string, version: unknown): boolean {
    const known = this.byUri(uri);
    return known !== undefined && typeof version === 'number' && version < known.since;
  }

  /** Opens the file, or sends its current text to the server. `again` also sends an unchanged text, to force a new analysis. */
  async show(path: string, again: boolean, ctx: ToolContext, options: RequestOptions): Promise<OpenDocument> {
    const place = resolveFile(ctx.workspace, path, 'read');
    if (place.root !== ctx.workspace.root)
      throw new ToolError('invalid_arguments', `${path} is not in the workspace: language servers see nothing else.`);
    const shown = place.path.displayPath;
    const text = decodeText((await readWorkspaceFile(place, LIMIT, ctx.signal)).bytes, shown);
    const known = this.open.get(shown);
    const uri = pathToFileURL(absolutePath(place.root, place.path.names)).href;
    const isOther = known !== undefined && known.text !== text;
    const version = (known?.version ?? 0) + 1;
    const since = known === undefined || isOther ? version : known.since;
    const current = known === undefined || isOther || again ? { path: shown, uri, text, version, since } : known;
    // Set before sending, since the connection sends its queue even if this call stops waiting.
    this.open.delete(shown);
    this.open.set(shown, current);
    if (isOther) this.onText(uri);
    if (known === undefined) await this.send('didOpen', { textDocument: { uri, languageId: languageId(shown), version, text } }, options);
    else if (current !== known) await this.change(current, options);
    await this.closeOldest(options);
    return current;
  }

  /** Updates the open files from the disk; closes unreadable ones. */
  async refresh(ctx: ToolContext, options: RequestOptions): Promise<void> {
    for (const { path, uri } of Array.from(this.open.values())) {
      try {
        await this.show(path, false, ctx, options);
      } catch (error) {
        ctx.signal.throwIfAborted();
        this.connection.check();
        if (!(error instanceof ToolError)) throw error;
        this.open.delete(path);
        await this.send('didClose', { textDocument: { uri } }, options);
      }
    }
  }

  private byUri(uri: string): OpenDocument | undefined {
    return Array.from(this.open.values()).find((it) => it.uri === uri);
  }

  private async change({ uri, version, text }: OpenDocument, options: RequestOptions): Promise<void> {
    await this.send('didChange', { textDocument: { uri, version }, contentChanges: [{ text }] }, options);
  }

  private async closeOldest(options: RequestOptions): Promise<void> {
    const [oldest] = this.open.values();
    if (oldest === undefined || this.open.size <= MOST_OPEN) return;
    this.open.delete(oldest.path);
    await this.send('didClose', { textDocument: { uri: oldest.uri } }, options);
  }

  private send(method: string, params: object, options: RequestOptions): Promise<void> {
    return this.connection.notify(`textDocument/${method}`, params, options);
  }
}

function languageId(path: string): string {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  const language = languageOf(path) ?? extension;
  return LANGUAGE_IDS[extension] ?? LANGUAGE_IDS[language] ?? language;
}
