import { readFileSync } from 'node:fs';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import type { z } from 'zod';
import { ConfigFile } from '#contracts';
import { configPatternFaults } from '#policy';
import { unknownField } from './unknown-fields.js';

/** Content of the file; `file` is present if there are no faults. */
export interface ConfigFileContent {
  readonly file?: ConfigFile;
  /** True if the field `keys` is present, even if empty: a file truncated during its write lacks it. */
  readonly saysKeys?: boolean;
  /** True for an empty file, as during its write. */
  readonly isEmpty?: boolean;
  /** Faults as `<path>:<line>: <field>: <expectation>`. */
  readonly faults: readonly string[];
}

/** Field and its fault. */
export interface Fault {
  readonly path: PropertyKey[];
  readonly message: string;
}

/** Reads the file of TOOLYARD_CONFIG: YAML, a superset of JSON. Never throws: `faults` lists all errors. `check` adds more. */
export function readConfigFile(path: string, check: (file: ConfigFile) => readonly Fault[]): ConfigFileContent {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { faults: [`TOOLYARD_CONFIG: expected a readable file at ${path} (${codeOf(error)})`] };
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    return {
      faults: document.errors.map((error) => `${path}:${lines.linePos(error.pos[0]).line}: not valid YAML or JSON: ${error.message}`),
    };
  }
  const content: unknown = document.toJS();
  const isEmpty = content === null || content === undefined;
  const parsed = ConfigFile.safeParse(isEmpty ? {} : content);
  const found = parsed.success ? [...configPatternFaults(parsed.data), ...check(parsed.data)] : parsed.error.issues.flatMap(faultsOf);
  if (parsed.success && found.length === 0) {
    return { file: parsed.data, saysKeys: document.has('keys'), isEmpty, faults: [] };
  }
  return { faults: found.map(({ path: at, message }) => `${path}:${lineOf(document, lines, at)}: ${fieldName(at)}: ${message}`) };
}

/** Moves faults of unknown fields, which zod reports at their object, to the fields themselves. */
function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, message: issue.message }];
  return issue.keys.map((name) => ({ path: [...issue.path, name], message: unknownField(issue.path, name) }));
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.map(String).join('.') || '(whole file)';
}

/** Line of the field, or of its nearest parent in the file. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
