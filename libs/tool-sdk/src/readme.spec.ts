import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const EXAMPLE = `${ROOT}libs/tools/src/basics/word-count.tool.ts`;

/** Type errors of a source text, checked as a file of this project that is not on the disk. */
function typeErrors(source: string): string[] {
  const config = ts.readConfigFile(`${ROOT}tsconfig.json`, (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent({ ...config.config, files: [], include: [] }, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (path, ...more) =>
    path === EXAMPLE ? ts.createSourceFile(path, source, ts.ScriptTarget.ES2023) : getSourceFile.call(host, path, ...more);
  host.fileExists = (path) => path === EXAMPLE || fileExists.call(host, path);
  host.readFile = (path) => (path === EXAMPLE ? source : readFile.call(host, path));
  const program = ts.createProgram([EXAMPLE], { ...options, noEmit: true }, host);
  const file = program.getSourceFile(EXAMPLE);
  const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('the example in the README of tool-sdk', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [example = ''] = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text]) => text ?? '');

  it('compiles the example of tool-sdk against the exports of the library', () => {
    expect(example).toContain('@Tool({');
    expect(typeErrors(example)).toEqual([]);
  });

  it('fails to compile the example if run takes arguments other than the schema’s', () => {
    expect(typeErrors(example.replace('{ text }: z.output<typeof input>', '{ text }: { text: number }'))).not.toEqual([]);
  });
});
