import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ThreadPool } from '../threads/thread-pool.js';
import { CODE_LANGUAGES, type CodeLanguageName, type CodeSymbolKind } from '#contracts';
import { LANGUAGES } from './languages.js';

export interface SourceText {
  readonly language: CodeLanguageName;
  readonly text: string;
}

/** Rows and columns count from 1. */
export interface CodePlace {
  readonly row: number;
  readonly column: number;
  /** The line, without its indent. */
  readonly line: string;
}

export interface CodeSymbol extends CodePlace {
  readonly name: string;
  readonly kind: CodeSymbolKind;
  /** Names of the definitions around it, joined by dots. */
  readonly within: string;
  readonly firstRow: number;
  readonly lastRow: number;
}

export interface Occurrence extends CodePlace {
  readonly definition: boolean;
}

export interface PatternMatch extends CodePlace {
  readonly lastRow: number;
  /** Offset in the text, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
  /** Values of the pattern's placeholders. */
  readonly names: Readonly<Record<string, string>>;
}

/** Job for each file, with the type of its result. */
export type SyntaxJob<T> = (
  | { readonly kind: 'symbols'; readonly most: number }
  | { readonly kind: 'occurrences'; readonly name: string; readonly most: number }
  | { readonly kind: 'pattern'; readonly pattern: string; readonly most: number }
) & { readonly answer?: T };

export const symbolsJob = (most: number): SyntaxJob<CodeSymbol> => ({ kind: 'symbols', most });
export const occurrencesJob = (name: string, most: number): SyntaxJob<Occurrence> => ({ kind: 'occurrences', name, most });
export const patternJob = (pattern: string, most: number): SyntaxJob<PatternMatch> => ({ kind: 'pattern', pattern, most });

type Answer = { readonly results: readonly (readonly never[])[] } | { readonly fault: string };

const LIMITS = { maxOldGenerationSizeMb: 256, stackSizeMb: 8 };
/** Time limits of a batch, and of a single file. The thread stops by itself if possible. */
const BATCH_TIMEOUT_MS = 20_000;
const FILE_TIMEOUT_MS = 4_000;

/** Parses source files with tree-sitter in threads. A file that is too complex costs its thread. */
export class SyntaxThreads {
  private readonly threads = new ThreadPool<object, Answer>({
    source: 'require(require("node:worker_threads").workerData.script)',
    workerData: settings(),
    limits: LIMITS,
  });

  /**
   * Results for each file, `undefined` for a file that is too complex to parse.
   * @throws the reason of `signal`; `PatternError`
   */
  async run<T>(files: readonly SourceText[], job: SyntaxJob<T>, signal: AbortSignal): Promise<readonly (readonly T[] | undefined)[]> {
    const answer = await this.threads.run({ files, job }, files.length > 1 ? BATCH_TIMEOUT_MS : FILE_TIMEOUT_MS, signal).catch(() => {
      signal.throwIfAborted();
      return undefined;
    });
    if (answer !== undefined && 'fault' in answer) throw new PatternError(answer.fault);
    if (answer !== undefined) return answer.results;
    if (files.length <= 1) return files.map(() => undefined);
    // Repeats the batch file by file, since one of them is too complex.
    const single: (readonly T[] | undefined)[] = [];
    for (const file of files) single.push(...(await this.run([file], job, signal)));
    return single;
  }

  /** Ends the idle threads. Idempotent. */
  async close(): Promise<void> {
    await this.threads.close();
  }
}

/** A pattern that is no code of the language of a file. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

function settings(): object {
  const library = createRequire(import.meta.url).resolve('@vscode/tree-sitter-wasm');
  const languages = CODE_LANGUAGES.map(
    (name) => [name, { ...LANGUAGES[name], wasm: join(dirname(library), `tree-sitter-${LANGUAGES[name].grammar}.wasm`) }] as const,
  );
  return { script: fileURLToPath(new URL('./syntax.thread.cjs', import.meta.url)), library, languages: Object.fromEntries(languages) };
}
