import { z } from 'zod';
import { type CanonicalCall, dialectTool, definedFields } from './dialect.js';
import { ChangeFacts, countLines } from './facts.js';
import { kiroPath } from './kiro-read.js';
import { count, refusalText } from './kiro-texts.js';

const path = z.string().describe('Path, relative to the workspace.');

const write = dialectTool({
  name: 'write',
  aliases: ['fs_write', 'fsWrite'],
  tool: 'file_write',
  means: ['file_write', 'file_edit'],
  description: 'Create a file, replace text in a file (strReplace), or insert lines (insert; without insertLine at the end).',
  input: z.strictObject({
    command: z.enum(['create', 'strReplace', 'insert']).describe('What to do.'),
    path,
    content: z.string().optional().describe('For create and insert: the text.'),
    oldStr: z.string().optional().describe('For strReplace: the text to find.'),
    newStr: z.string().optional().describe('For strReplace: what to put in its place.'),
    replaceAll: z.boolean().optional().describe('For strReplace: replace every occurrence.'),
    insertLine: count.optional().describe('For insert: insert after this line; 0 is the beginning.'),
  }),
  argumentAliases: { oldStr: ['old_str'], newStr: ['new_str'], insertLine: ['insert_line'], content: ['file_text'] },
  adapt: (args) => writeCall(args),
  result: (result) => {
    const { path: file, occurrences = 1 } = ChangeFacts.parse(result.facts);
    const { content, insert_text: inserted, insert_line: at } = result.args;
    if (typeof content === 'string') return `Successfully created ${file} (${countLines(content)} lines).`;
    if (typeof inserted !== 'string') return `Successfully replaced ${occurrences} occurrence(s) in ${file}.`;
    const place = typeof at === 'number' ? `at line ${at} in ${file}.` : `at end of file in ${file}.`;
    return `Successfully inserted ${countLines(inserted)} line(s) ${place}`;
  },
  refusal: (refusal) => {
    const { old_text: old } = refusal.args ?? {};
    if (refusal.message.startsWith('old_text not found')) return `no occurrences of "${String(old)}" were found`;
    const [, many] = /^old_text matches (\d+) locations/.exec(refusal.message) ?? [];
    return many === undefined ? refusalText(refusal) : `${many} occurrences of old_str were found when only 1 is expected`;
  },
});

interface WriteArguments {
  readonly command: 'create' | 'strReplace' | 'insert';
  readonly path: string;
  readonly content?: string | undefined;
  readonly oldStr?: string | undefined;
  readonly newStr?: string | undefined;
  readonly replaceAll?: boolean | undefined;
  readonly insertLine?: number | undefined;
}

function writeCall({ command, content, oldStr, newStr, replaceAll, insertLine, ...file }: WriteArguments): CanonicalCall {
  const target = kiroPath(file.path);
  switch (command) {
    case 'create':
      return { tool: 'file_write', args: { path: target, content: needed('content', content) } };
    case 'strReplace': {
      const old_text = needed('oldStr', oldStr);
      const new_text = needed('newStr', newStr);
      if (old_text === '') throw new Error('oldStr must not be empty');
      return { tool: 'file_edit', args: definedFields({ path: target, old_text, new_text, replace_all: replaceAll }) };
    }
    case 'insert': {
      const insert_text = needed('content', content);
      if (insert_text === '') throw new Error('Content to insert must not be empty');
      return { tool: 'file_edit', args: definedFields({ path: target, insert_text, insert_line: insertLine }) };
    }
    default:
      return command satisfies never;
  }
}

function needed(name: string, value: string | undefined): string {
  if (value === undefined) throw new Error(`missing '${name}' parameter`);
  return value;
}

export const KIRO_WRITE = [write];
