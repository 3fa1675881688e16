import { z } from 'zod';
import type { Content } from '#contracts';
import { type CanonicalCall, type CanonicalResult, dialectTool, definedFields } from './dialect.js';
import { LinesFacts } from './facts.js';

const FILE_BYTES = 250 * 1_024;
const IMAGE_BYTES = 10 * 1_048_576;
const MOST_OPERATIONS = 20;

const path = z.string().describe('Path, relative to the workspace.');
const count = z.number().int().min(0).max(1_000_000);

const line = z.strictObject({
  mode: z.literal('Line'),
  path,
  limit: count.optional().describe('How many lines to read.'),
  offset: count.optional().describe('Lines to pass over; 0 where not said.'),
});
const directory = z.strictObject({
  mode: z.literal('Directory'),
  path,
  depth: z.number().int().min(0).max(49).optional().describe('How many levels below the folder to go; 0 where not said.'),
  exclude_patterns: z.array(z.string().min(1).max(200)).max(50).optional().describe('Globs to leave out.'),
});
const image = z.strictObject({ mode: z.literal('Image'), image_paths: z.array(z.string()).min(1).max(MOST_OPERATIONS) });

const read = dialectTool({
  name: 'read',
  aliases: ['fs_read', 'fsRead'],
  tool: 'file_read',
  description:
    'Read files, folders and images, several in one call. At most 250 KB of a file, 1,000 entries of a folder, 10 MB of an image.',
  input: z.strictObject({
    operations: z
      .array(z.discriminatedUnion('mode', [line, directory, image]))
      .min(1)
      .max(MOST_OPERATIONS),
  }),
  adapt: ({ operations }) => readCall(operations),
  result: readResult,
});

const ls = dialectTool({
  name: 'ls',
  hidden: true,
  tool: 'file_read',
  means: ['file_list'],
  description: 'List a folder.',
  input: z.strictObject({ path, depth: directory.shape.depth, exclude_patterns: directory.shape.exclude_patterns }),
  adapt: (args) => readCall([{ mode: 'Directory', ...args }]),
  result: readResult,
});

const imageRead = dialectTool({
  name: 'imageRead',
  hidden: true,
  tool: 'file_read',
  description: 'Read images.',
  input: z.strictObject({ image_paths: image.shape.image_paths }),
  adapt: (args) => readCall([{ mode: 'Image', ...args }]),
  result: readResult,
});

type Operation = z.output<typeof line> | z.output<typeof directory> | z.output<typeof image>;

function readCall(operations: readonly Operation[]): CanonicalCall {
  const all = operations.flatMap((operation) => {
    switch (operation.mode) {
      case 'Line': {
        const { offset = 0, limit } = operation;
        return [
          definedFields({
            mode: 'lines',
            path: kiroPath(operation.path),
            offset: offset === 0 ? undefined : offset + 1,
            limit: limit === 0 ? 1 : limit,
          }),
        ];
      }
      case 'Directory':
        return [
          definedFields({
            mode: 'directory',
            path: kiroPath(operation.path),
            max_depth: (operation.depth ?? 0) + 1,
            exclude: operation.exclude_patterns,
          }),
        ];
      case 'Image':
        return operation.image_paths.map((file) => ({ mode: 'image', path: kiroPath(file) }));
      default:
        return operation satisfies never;
    }
  });
  if (all.length > MOST_OPERATIONS) throw new Error(`at most ${MOST_OPERATIONS} files may be read in one call, got ${all.length}`);
  return { tool: 'file_read', args: { operations: all } };
}

function readResult(result: CanonicalResult): { content: readonly Content[] | string; isError?: boolean } {
  const { read: lines } = z.object({ read: z.array(LinesFacts.nullable()) }).parse(result.facts);
  const large = result.content.find((item) => item.type === 'image' && (item.data.length * 3) / 4 > IMAGE_BYTES);
  if (large !== undefined) return { content: `Image is too large: at most ${IMAGE_BYTES} bytes are allowed`, isError: true };
  return {
    content: result.content.map((item, index) => {
      const shown = lines[index];
      return item.type === 'text' && shown != null ? { type: 'text' as const, text: linesText(shown, result) } : item;
    }),
  };
}

/** Whole lines that fit; of a first line that is longer, its beginning. */
function linesText({ content, startLine, totalLines }: z.output<typeof LinesFacts>, { cut }: CanonicalResult): string {
  if (Buffer.byteLength(content) <= FILE_BYTES) return content;
  const lines = content.split(/(?<=\n)/);
  let left = FILE_BYTES;
  const over = lines.findIndex((text) => (left -= Buffer.byteLength(text)) < 0);
  const fitting = Math.max(over, 1);
  const last = startLine - 1 + fitting;
  const note = `\n...truncated (showing lines ${startLine}-${last} of ${totalLines}). Use offset: ${last} to continue reading.`;
  return cut(lines.slice(0, fitting).join(''), FILE_BYTES, '') + note;
}

/** @throws Error for an empty path */
export function kiroPath(text: string): string {
  if (text.trim() === '') throw new Error('Path must not be empty');
  return text;
}

/** The reading tool of kiro, and the names of it in earlier versions. */
export const KIRO_READ = [read, ls, imageRead];
