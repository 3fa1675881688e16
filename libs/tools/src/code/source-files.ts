import { CODE_LANGUAGES, type CodeLanguageName } from '#contracts';
import { readWorkspaceFile, resolveFile } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { globFiles } from '../search/glob-files.js';
import { searchCounts } from '../search/search-files.js';
import { searchTarget } from '../search/search-target.js';
import { languageOf, sourceGlob } from './languages.js';
import type { SourceText, SyntaxJob, SyntaxThreads } from './syntax-threads.js';

export interface SourceQuery {
  /** A file or folder. */
  readonly path: string;
  readonly language?: CodeLanguageName | undefined;
  /** Text that files must contain, ignoring case. */
  readonly containing?: string | undefined;
}

/** Most files of one request. */
const MOST_FILES = 3_000;
const MOST_FILE_BYTES = 1_048_576;
const BATCH_FILES = 64;
const BATCH_CHARACTERS = 1_048_576;
const SIZE = { bytes: MOST_FILE_BYTES, hint: 'Such files are not parsed: use file_search.' };

export interface SourceFile extends SourceText {
  readonly path: string;
}

export interface FileResult<T> extends SourceFile {
  readonly results: readonly T[];
}

interface SourcePaths {
  readonly paths: readonly string[];
  /** True if there are no more. */
  readonly whole: boolean;
  /** True for the requested file itself, rather than a found one. */
  readonly named: boolean;
}

/** Scan of files, with the reasons for incomplete results. */
export class SourceScan {
  files = 0;
  private readonly limits: string[] = [];
  private unparsed = 0;
  private unread = 0;

  constructor(
    private readonly threads: SyntaxThreads,
    private readonly ctx: ToolContext,
  ) {}

  /** The answers for the files of a folder, in the order of their paths, or for the one file that `path` is. */
  async *run<T>(query: SourceQuery, job: SyntaxJob<T>): AsyncGenerator<FileResult<T>> {
    const { paths, whole, named } = await this.pathsOf(query);
    if (!whole) this.limits.push(`only the first ${MOST_FILES.toLocaleString('en')} files were looked at: name a folder`);
    for await (const batch of this.batches(paths, named, query.language)) {
      const results = await this.threads.run(batch, job, this.ctx.signal);
      for (const [index, file] of batch.entries()) {
        const found = results[index];
        if (found === undefined) this.unparsed += 1;
        else yield { ...file, results: found };
      }
    }
  }

  /** Notes in square brackets for the end of results; empty if the results are complete. */
  note(...more: readonly string[]): string {
    return [...more, ...this.notes()].map((note) => `\n[${note}]`).join('');
  }

  /** Reasons for incomplete results. */
  notes(): string[] {
    const counted = (count: number, why: string): string[] => (count === 0 ? [] : [`${count} ${count === 1 ? 'file' : 'files'} ${why}`]);
    return [
      ...this.limits,
      ...counted(this.unread, 'left out: too large, not text or not readable'),
      ...counted(this.unparsed, 'left out: too complex to parse'),
    ];
  }

  private async pathsOf({ path, language, containing }: SourceQuery): Promise<SourcePaths> {
    const target = await searchTarget(this.ctx.workspace, path);
    if (!target.directory) return { paths: [path], whole: true, named: true };
    const include = sourceGlob(language);
    if (containing === undefined) {
      const request = { pattern: include, target, maxDepth: 50, most: MOST_FILES, ignored: false, sort: 'path' as const };
      const { files, total } = await globFiles(request, this.ctx);
      return { paths: files, whole: total === files.length, named: false };
    }
    const request = { query: containing, target, include, literal: true, case_sensitive: false, context: 0, max_results: MOST_FILES };
    const { lines, truncated } = await searchCounts({ ...request, output_mode: 'files_with_matches' }, this.ctx);
    return { paths: lines, whole: !truncated, named: false };
  }

  private async *batches(paths: readonly string[], named: boolean, language: CodeLanguageName | undefined): AsyncGenerator<SourceFile[]> {
    let batch: SourceFile[] = [];
    let characters = 0;
    for (const path of paths) {
      const file = await this.read(path, language, named);
      if (file === undefined) continue;
      this.files += 1;
      batch.push(file);
      characters += file.text.length;
      if (batch.length < BATCH_FILES && characters < BATCH_CHARACTERS) continue;
      yield batch;
      [batch, characters] = [[], 0];
    }
    if (batch.length > 0) yield batch;
  }

  /** The one file that was named fails with the reason; others are counted. */
  private async read(path: string, wanted: CodeLanguageName | undefined, named: boolean): Promise<SourceFile | undefined> {
    try {
      const language = languageOf(path) ?? (named ? wanted : undefined);
      if (language === undefined)
        throw new ToolError(
          'invalid_arguments',
          `${path} is in no language that is parsed: ${CODE_LANGUAGES.join(', ')}. Name one as language.`,
        );
      const { bytes } = await readWorkspaceFile(resolveFile(this.ctx.workspace, path, 'read'), SIZE, this.ctx.signal);
      if (bytes.includes(0)) throw new ToolError('tool_failed', `${path} is not a text file.`);
      return { path, language, text: bytes.toString('utf8') };
    } catch (error) {
      this.ctx.signal.throwIfAborted();
      if (named || !(error instanceof ToolError)) throw error;
      this.unread += 1;
      return undefined;
    }
  }
}
