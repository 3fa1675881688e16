import type { CodeLanguageName } from '#contracts';
import { type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { requireArgument } from '../operations/code-request.js';
import { invalidPattern, longestWord } from '../operations/pattern-search.js';
import { SourceScan } from '../source-files.js';
import { type PatternMatch, type SyntaxThreads, patternJob } from '../syntax-threads.js';
import { type PlannedChange, changeFiles, changedMeanwhile } from './change-files.js';

export interface RewriteRequest {
  readonly pattern: string;
  readonly replacement: string;
  readonly language: CodeLanguageName;
  readonly path: string;
  readonly limit: number;
  readonly dryRun: boolean;
}

const PLACEHOLDER = /\$\$\$([A-Z_][A-Z0-9_]*)|\$([A-Z_][A-Z0-9_]*)/g;

/** Replaces code of the form of a pattern. A match inside another one is left as it is. */
export async function patternRewrite(
  request: RewriteRequest,
  run: { threads: SyntaxThreads; ctx: ToolContext },
): Promise<ToolOutputObject> {
  const pattern = requireArgument(request.pattern, 'pattern');
  checkPlaceholders(pattern, request.replacement);
  const { path, language, limit, dryRun } = request;
  const scan = new SourceScan(run.threads, run.ctx);
  const planned: PlannedChange[] = [];
  let [left, inner] = [limit, 0];
  try {
    for await (const file of scan.run({ path, language, containing: longestWord(pattern) }, patternJob(pattern, limit + 1))) {
      const outer = outermost(file.results);
      inner += file.results.length - outer.length;
      const taken = outer.slice(0, left);
      left -= taken.length;
      if (taken.length > 0) planned.push(rewriteOf(file, taken, request.replacement));
      if (taken.length < outer.length) break;
    }
  } catch (error) {
    throw invalidPattern(error);
  }
  const notes = [
    ...(left === 0 ? [`the first ${limit} matches are taken: raise limit`] : []),
    ...(inner > 0 ? [`${inner} inside of other matches left as they are: call again`] : []),
  ];
  return changeFiles(planned, { dryRun, ctx: run.ctx, notes: [...notes, ...scan.notes()] });
}

/** @throws ToolError for a placeholder of the replacement that is not in the pattern */
export function checkPlaceholders(pattern: string, replacement: string): void {
  const bound = new Set(namesIn(pattern));
  const unknown = namesIn(replacement).find((name) => !bound.has(name));
  if (unknown !== undefined)
    throw new ToolError(
      'invalid_arguments',
      `Invalid replacement: $${unknown} is not in the pattern. Name there what the replacement takes.`,
    );
}

function namesIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, many, one]) => many ?? one ?? '').filter((name) => name !== '_');
}

/** Most characters of a rewritten file. */
const MOST_CHARACTERS = 10 * 1_048_576;

function outermost(matches: readonly PatternMatch[]): PatternMatch[] {
  const taken: PatternMatch[] = [];
  for (const match of matches.toSorted((a, b) => a.from - b.from || b.to - a.to))
    if (match.from >= (taken.at(-1)?.to ?? 0)) taken.push(match);
  return taken;
}

function rewriteOf(
  { path, text: seen }: { path: string; text: string },
  matches: readonly PatternMatch[],
  replacement: string,
): PlannedChange {
  return {
    path,
    edits: matches.length,
    apply: (text) => {
      if (text !== seen) throw changedMeanwhile(path);
      let [result, from] = ['', 0];
      for (const match of matches) {
        result += text.slice(from, match.from) + filled(replacement, match.names, MOST_CHARACTERS - result.length, path);
        from = match.to;
      }
      return result + text.slice(from);
    },
  };
}

/** @throws ToolError when the placeholders stand for more than `room` characters: each may be named often, for much code */
function filled(replacement: string, names: Readonly<Record<string, string>>, room: number, path: string): string {
  let left = room - replacement.length;
  return replacement.replaceAll(PLACEHOLDER, (all: string, many: string | undefined, one: string | undefined) => {
    const name = many ?? one ?? '';
    const text = Object.hasOwn(names, name) ? (names[name] ?? '') : all;
    left -= text.length;
    if (left < 0)
      throw new ToolError('tool_failed', `${path} would be longer than ${MOST_CHARACTERS} characters; no file was changed.`, {
        retryable: false,
      });
    return text;
  });
}
