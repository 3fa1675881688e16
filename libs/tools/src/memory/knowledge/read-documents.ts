import type { Document } from '#memory';
import { decodeText, listTree, readWorkspaceFile, type ResolvedFile, resolveFile } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';

const FILE_BYTES = 1_048_576;
const TOTAL_BYTES = 16 * 1_048_576;
const MOST_FILES = 1_000;
const MAX_DEPTH = 20;
const LIMIT = { bytes: FILE_BYTES, hint: 'Index a part of it as a text.' };

export interface DocumentSource {
  readonly total: number;
  /** Reads one file after another. Rejects with a ToolError for a single file that cannot be read. */
  documents(): AsyncIterable<Document>;
  /** Files that were no text, too large or not to be read, so far. */
  skipped(): number;
}

/** Source of `add` and `update`: a text, a file or the files of a folder. Rejects with a ToolError. */
export async function sourceOf(
  { path, value, name }: { readonly path?: string | undefined; readonly value?: string | undefined; readonly name?: string | undefined },
  ctx: ToolContext,
): Promise<DocumentSource> {
  if (path === undefined) return textSource(name ?? 'text', ctx.redact(value ?? ''));
  const place = resolveFile(ctx.workspace, path, 'read');
  const tree = await listTree(place, { maxDepth: MAX_DEPTH, most: MOST_FILES * 4 }, ctx.signal).catch(() => undefined);
  ctx.signal.throwIfAborted();
  if (tree === undefined) return fileSource(place, ctx);
  const files = tree.entries.filter((entry) => !entry.endsWith('/'));
  if (files.length > MOST_FILES || tree.total > MOST_FILES * 4)
    throw new ToolError('tool_failed', `${place.path.displayPath} has more than ${MOST_FILES} files. Index the folders in it one by one.`);
  return folderSource(place.path.displayPath, files, ctx);
}

function textSource(path: string, text: string): DocumentSource {
  return {
    total: 1,
    skipped: () => 0,
    documents: async function* () {
      yield await Promise.resolve({ path, text });
    },
  };
}

function fileSource(place: ResolvedFile, ctx: ToolContext): DocumentSource {
  return {
    total: 1,
    skipped: () => 0,
    documents: async function* () {
      yield { path: place.path.displayPath, text: await textOf(place, ctx) };
    },
  };
}

/** Reads each file by its own path; skips files that may not be read. */
function folderSource(folder: string, files: readonly string[], ctx: ToolContext): DocumentSource {
  let skipped = 0;
  return {
    total: files.length,
    skipped: () => skipped,
    documents: async function* () {
      let bytes = 0;
      for (const file of files) {
        const path = folder === '.' ? file : `${folder}/${file}`;
        const text = await readable(path, ctx);
        if (text === undefined) skipped += 1;
        else {
          bytes += Buffer.byteLength(text);
          if (bytes > TOTAL_BYTES)
            throw new ToolError('tool_failed', `${folder} has more than 16 MB of text. Index the folders in it one by one.`);
          yield { path, text };
        }
      }
    },
  };
}

async function readable(path: string, ctx: ToolContext): Promise<string | undefined> {
  try {
    return await textOf(resolveFile(ctx.workspace, path, 'read'), ctx);
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (error instanceof ToolError) return undefined;
    throw error;
  }
}

async function textOf(place: ResolvedFile, ctx: ToolContext): Promise<string> {
  const { bytes } = await readWorkspaceFile(place, LIMIT, ctx.signal);
  return ctx.redact(decodeText(bytes, place.path.displayPath));
}
