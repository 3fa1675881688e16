import { ToolError } from '#tool-sdk';
import { SourceScan } from '../source-files.js';
import { PatternError, patternJob } from '../syntax-threads.js';
import { type CodeOperation, requireArgument } from './code-request.js';
import { textOutput } from '../text-output.js';

/** Code of the form of a pattern. */
export const patternSearch: CodeOperation = async ({ pattern: given, language, path, limit, offset }, { threads, ctx }) => {
  const pattern = requireArgument(given, 'pattern');
  if (language === undefined) throw new ToolError('invalid_arguments', 'pattern_search needs the language of the pattern: language');
  const scan = new SourceScan(threads, ctx);
  const lines: string[] = [];
  const found: object[] = [];
  let skipped = 0;
  let more = false;
  try {
    search: for await (const file of scan.run(
      { path, language, containing: longestWord(pattern) },
      patternJob(pattern, offset + limit + 1),
    )) {
      for (const { line, from: _from, to: _to, ...match } of file.results) {
        if (skipped++ < offset) continue;
        more = lines.length === limit;
        if (more) break search;
        const rows = match.lastRow > match.row ? `${match.row}-${match.lastRow}` : match.row;
        lines.push(`${file.path}:${rows} | ${line}${named(match.names)}`);
        found.push({ path: file.path, ...match });
      }
    }
  } catch (error) {
    throw invalidPattern(error);
  }
  const note = scan.note(...(more ? [`the first ${lines.length} are shown: raise limit or offset`] : []));
  return textOutput((lines.join('\n') || 'No code matches the pattern') + note, { matches: found, truncated: more });
};

/** Error for the model if a pattern is not valid code; any other error unchanged. */
export function invalidPattern(error: unknown): unknown {
  if (!(error instanceof PatternError)) return error;
  return new ToolError('invalid_arguments', `Invalid pattern: ${error.message}. ${FORM}`, { cause: error });
}

const FORM =
  'Write whole code such as console.log($X) or function $NAME($$$ARGS) { $$$ }: $NAME stands for one node, $$$NAME for any number of nodes.';
const SHOWN_CHARACTERS = 80;

function named(names: Readonly<Record<string, string>>): string {
  const parts = Object.entries(names).map(([name, text]) => `$${name}=${text.replaceAll(/\s+/g, ' ').slice(0, SHOWN_CHARACTERS)}`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** A word that each match has in it: only files with it are parsed. */
export function longestWord(pattern: string): string | undefined {
  const words = pattern.replaceAll(/\$\$\$\w*|\$\w+/g, ' ').match(/\w{3,}/g) ?? [];
  return words.toSorted((a, b) => b.length - a.length)[0];
}
