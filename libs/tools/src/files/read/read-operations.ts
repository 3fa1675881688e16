import { type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { listFolder, type FolderRequest } from './list-folder.js';
import type { PdfReader } from './pdf-reader.js';
import { readFile, readImage, type ReadFile, type ReadRequest } from './read-file.js';

export interface ReadOperation extends ReadRequest, FolderRequest {
  readonly mode: 'lines' | 'directory' | 'image';
}

/** Most characters of all operations together, as base64 and text. */
const MOST_CHARACTERS = 30 * 1_048_576;

/** Results of all operations, in their order. A failure fails the call; the message lists all failures. */
export async function runOperations(operations: readonly ReadOperation[], pdf: PdfReader, ctx: ToolContext): Promise<ToolOutput> {
  const results: ReadFile[] = [];
  const failures: ToolError[] = [];
  let left = MOST_CHARACTERS;
  for (const operation of operations) {
    ctx.signal.throwIfAborted();
    try {
      const result = await runOperation(operation, pdf, ctx);
      left -= sizeOf(result);
      if (left < 0)
        throw new ToolError('tool_failed', `${operation.path} is too much with the files before it: read it in a call of its own`);
      results.push(result);
    } catch (error) {
      ctx.signal.throwIfAborted();
      if (!(error instanceof ToolError)) throw error;
      failures.push(error);
      if (left < 0) break;
    }
  }
  const [first] = failures;
  if (first !== undefined) throw new ToolError(first.code, failures.map(({ message }) => message).join(', '), { retryable: false });
  const data = { read: results.map((result) => result.data ?? null) };
  return { content: results.map(({ content }) => content), details: { operations: results.map(({ details }) => details) }, data };
}

async function runOperation(operation: ReadOperation, pdf: PdfReader, ctx: ToolContext): Promise<ReadFile> {
  switch (operation.mode) {
    case 'lines':
      return readFile(operation, pdf, ctx);
    case 'directory':
      return listFolder(operation, ctx);
    case 'image':
      return readImage(operation.path, ctx);
    default:
      return operation.mode satisfies never;
  }
}

function sizeOf({ content }: ReadFile): number {
  if (content.type === 'text') return content.text.length;
  return content.type === 'image' ? content.data.length : 0;
}
