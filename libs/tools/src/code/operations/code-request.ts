import { type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import type { CodeLanguageName, CodeSymbolKind } from '#contracts';
import type { LanguageServers } from '../server/language-servers.js';
import type { SyntaxThreads } from '../syntax-threads.js';

/** The arguments of the tool, of which each operation takes some. */
export interface CodeRequest {
  readonly path: string;
  readonly symbol_name?: string | undefined;
  readonly symbols?: readonly string[] | undefined;
  readonly symbol_type?: CodeSymbolKind | undefined;
  readonly exact_match: boolean;
  readonly include_source: boolean;
  readonly top_level_only: boolean;
  readonly pattern?: string | undefined;
  readonly language?: CodeLanguageName | undefined;
  readonly limit: number;
  readonly offset: number;
  /** A place in the file, instead of a name. */
  readonly row?: number | undefined;
  readonly column?: number | undefined;
}

export interface CodeRun {
  readonly threads: SyntaxThreads;
  readonly servers: LanguageServers;
  readonly ctx: ToolContext;
}

export type CodeOperation = (request: CodeRequest, run: CodeRun) => Promise<ToolOutputObject>;

/** @throws ToolError for an argument that the operation needs and that is missing, empty or no text of a source file */
export function requireArgument(value: string | undefined, argument: string): string {
  if (value === undefined || value.trim() === '') throw new ToolError('invalid_arguments', `${argument} cannot be empty`);
  if (value.includes('\0')) throw new ToolError('invalid_arguments', `Invalid ${argument}: it has a NUL in it.`);
  return value.trim();
}

/** A name may have the names around it before it: `Tool.run`, `Tool::run`, `Tool#run`. */
export function splitName(given: string): { readonly name: string; readonly within: string } {
  const names = given.split(/\.|::|#/).filter((part) => part !== '');
  return { name: names.at(-1) ?? given, within: names.slice(0, -1).join('.') };
}

export function isWithinNames(within: string, wanted: string): boolean {
  return wanted === '' || `.${within}`.endsWith(`.${wanted}`);
}
