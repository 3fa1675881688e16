import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

describe('the client', () => {
  it('compiles the client with browser types only', () => {
    const program = ts.createProgram(['libs/client/src/index.ts'], {
      target: ts.ScriptTarget.ES2023,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      customConditions: ['source'],
      types: [],
      strict: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
      noEmit: true,
    });
    const faults = ts
      .getPreEmitDiagnostics(program)
      .map(({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
    expect(faults).toEqual([]);
    expect(program.getSourceFiles().some(({ fileName }) => fileName.includes('@types/node'))).toBe(false);
  });
});
