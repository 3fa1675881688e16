import { z } from 'zod';
import type { Content } from '#contracts';
import type { CanonicalResult } from './dialect.js';

/** Facts of the canonical `shell`. */
const ShellFacts = z.object({
  exitCode: z.number(),
  stdout: z.string(),
  stderr: z.string(),
  stdoutBytes: z.number(),
  stderrBytes: z.number(),
});

export interface Streams {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command's streams, each cut to so many bytes, with the suffix that says so. Default: as the tool kept them. */
export function streamsOf(
  result: CanonicalResult,
  bytes = Number.POSITIVE_INFINITY,
  suffix: (stream: 'output' | 'stderr') => string = () => '',
): Streams {
  const facts = ShellFacts.parse(result.facts);
  const cut = (text: string, total: number, stream: 'output' | 'stderr') =>
    total <= bytes ? text : result.cut(text, bytes, '') + suffix(stream);
  return {
    exitCode: facts.exitCode,
    stdout: cut(facts.stdout, facts.stdoutBytes, 'output'),
    stderr: cut(facts.stderr, facts.stderrBytes, 'stderr'),
  };
}

/** Texts of both streams, labelled if both have output. A long stream keeps beginning and end in its own text. */
export function shellTexts({ stdout, stderr }: Streams): string[] {
  if (stdout !== '' && stderr !== '') return [`stdout:\n${stdout}\n`, `stderr:\n${stderr}`];
  return stdout + stderr === '' ? [] : [stdout + stderr];
}

/** Parts of one text, which line ends join. */
export const textParts = (...texts: readonly string[]): Content[] => texts.map((text) => ({ type: 'text', text }));

/** Lines of a file, of the canonical `file_read`. */
export const LinesFacts = z.object({ content: z.string(), startLine: z.number(), numLines: z.number(), totalLines: z.number() });

/** Facts of the canonical `file_search`. */
export const SearchFacts = z.object({
  truncated: z.boolean(),
  found: z.array(
    z.object({
      path: z.string(),
      count: z.number().optional(),
      line: z.number().optional(),
      text: z.string().optional(),
      matches: z.boolean().optional(),
    }),
  ),
});

/** Facts of the canonical `glob`. */
export const GlobFacts = z.object({ files: z.array(z.string()), totalFiles: z.number(), truncated: z.boolean() });

/** Facts of the canonical `web_fetch`. */
export const FetchFacts = z.object({
  url: z.string(),
  status: z.number(),
  statusText: z.string(),
  contentType: z.string(),
  contentLength: z.number().optional(),
  title: z.string().optional(),
  note: z.string().optional(),
  mode: z.string(),
  truncated: z.boolean(),
  body: z.string(),
  bytes: z.number(),
});

/** Facts of the canonical `web_search`. */
export const WebSearchFacts = z.object({
  query: z.string(),
  provider: z.string(),
  baseUrl: z.string().optional(),
  results: z.array(z.object({ title: z.string(), url: z.string(), snippet: z.string() })),
});

const Hunk = z.object({
  oldStart: z.number(),
  oldLines: z.number(),
  newStart: z.number(),
  newLines: z.number(),
  lines: z.array(z.string()),
});

/** Facts of the canonical tools that change a file. */
export const ChangeFacts = z.object({
  path: z.string(),
  before: z.string().optional(),
  after: z.string().optional(),
  created: z.boolean().optional(),
  occurrences: z.number().optional(),
  bytes: z.number().optional(),
  diff: z.object({ hunks: z.array(Hunk) }).optional(),
});

/** The lines of a text; a line end at its end begins no further one. */
export function countLines(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}
