import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { detailsFrom, textFrom } from '../testing/outputs.js';
import { type TestWorkspace, testWorkspace } from '../testing/test-workspace.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { CodeTool } from './code.tool.js';

const tool = new CodeTool();
let workspace: TestWorkspace;
beforeEach(async () => void (workspace = await testWorkspace()));
afterEach(() => workspace.remove());
afterAll(() => tool.onApplicationShutdown());

const DEFAULTS = { path: '.', exact_match: false, include_source: false, top_level_only: false, limit: 50, offset: 0 };
type Args = Parameters<CodeTool['run']>[0];
const run = (args: Partial<Args> & Pick<Args, 'operation'>, more: object = {}) =>
  tool.run({ ...DEFAULTS, ...args }, fakeToolContext({ workspace, ...more }));
const code = (operation: Args['operation'], args: Partial<Args> = {}) => textFrom(run({ operation, ...args }));

/** Sample file of each language, with its outline. */
const SAMPLES: readonly (readonly [string, string, string])[] = [
  [
    'a.ts',
    'export abstract class A<T> {\n  size = 1;\n  constructor() {}\n  run(): void {}\n}\ninterface I { go(): void }\ntype T = 1;\nenum E { X }\nexport const f = () => 1;\nconst K = 2;\nnamespace N { function g() {} }\n',
    '1-5 class A, 2 field size, 3 constructor constructor, 4 method run, 6 interface I, 6 method go, 7 type T, 8 enum E, 9 function f, 10 variable K, 11 module N, 11 function g',
  ],
  ['a.tsx', 'export function View() { return <p>{x}</p>; }\n', '1 function View'],
  [
    'a.js',
    'class B { #secret = 1; get() {} }\nfunction* gen() {}\nvar v = 1;\n',
    '1 class B, 1 field #secret, 1 method get, 2 function gen, 3 variable v',
  ],
  [
    'a.py',
    'class C:\n  def m(self):\n    pass\nasync def f():\n  pass\nLIMIT = 1\n',
    '1-3 class C, 2-3 method m, 4-5 function f, 6 variable LIMIT',
  ],
  [
    'a.go',
    'package p\ntype S struct { A int }\ntype I interface { M() }\ntype Id = string\nfunc (s *S) M() {}\nfunc F() {}\nconst K = 1\nvar V = 2\n',
    '2 struct S, 3 interface I, 4 type Id, 5 method M, 6 function F, 7 constant K, 8 variable V',
  ],
  [
    'a.rs',
    'struct S { a: u8 }\nimpl S { fn m(&self) {} }\ntrait T { fn t(&self); }\nenum E { A }\nmod inner { const K: u8 = 1; }\nmacro_rules! mac { () => {} }\n',
    '1 struct S, 2 method m, 3 trait T, 3 method t, 4 enum E, 5 module inner, 5 constant K, 6 macro mac',
  ],
  [
    'A.java',
    'class A {\n  int f;\n  A() {}\n  void m() {}\n  enum E { X }\n}\ninterface I {}\nrecord R(int x) {}\n',
    '1-6 class A, 2 field f, 3 constructor A, 4 method m, 5 enum E, 7 interface I, 8 class R',
  ],
  [
    'a.c',
    '#define MAX 1\ntypedef struct point { int x; } point_t;\nint *f(int a) { return 0; }\nstatic int g(void);\n',
    '1 macro MAX, 2 type point_t, 2 struct point, 3 function f, 4 function g',
  ],
  [
    'a.cpp',
    'namespace n { class A { int m(); }; }\nint n::A::m() { return 1; }\nusing T = int;\n',
    '1 module n, 1 class A, 1 method m, 2 function n::A::m, 3 type T',
  ],
  ['a.sh', 'NAME=x\nfunction f() { echo 1; }\ng() { echo 2; }\n', '1 variable NAME, 2 function f, 3 function g'],
  ['a.json', '{\n  "name": "x",\n  "deep": { "er": [1] }\n}\n', '2 key name, 3 key deep, 3 key er'],
  [
    'a.cs',
    'namespace N { class A { int P { get; set; } A() {} void M() {} } }\n',
    '1 module N, 1 class A, 1 field P, 1 constructor A, 1 method M',
  ],
  ['a.rb', 'module M\n  class A\n    def m; end\n  end\nend\n', '1-5 module M, 2-4 class A, 3 method m'],
  ['a.php', '<?php\nclass A { function m() {} }\nfunction f() {}\n', '2 class A, 2 method m, 3 function f'],
];

describe('code', () => {
  it.each(SAMPLES)('outlines code of %s [TB-130]', async (path, text, outline) => {
    await workspace.put(path, text);
    const lines = (await code('get_document_symbols', { path })).split('\n').map((line) => line.trim());
    expect(lines.join(', ')).toBe(outline);
  });

  it('indents nested definitions in an outline, or omits them', async () => {
    await workspace.put('a.ts', 'class A {\n  m() {\n    const g = () => 1;\n  }\n}\n');
    expect(await code('get_document_symbols', { path: 'a.ts' })).toBe('1-5 class A\n  2-4 method m\n    3 function g');
    expect(await code('get_document_symbols', { path: 'a.ts', top_level_only: true })).toBe('1-5 class A');
  });

  it('finds definitions by a part of their name, their kind and the enclosing names [TB-130]', async () => {
    await workspace.put('src/shell.ts', 'export class ShellTool {\n  run() {}\n}\n// class ShellTool\n');
    await workspace.put('src/other.py', 'def shell_tool():\n  "class ShellTool"\nclass Other:\n  def run(self):\n    pass\n');
    expect(await code('search_symbols', { symbol_name: 'shell' })).toBe(
      'src/other.py:1 function shell_tool | def shell_tool():\nsrc/shell.ts:1 class ShellTool | export class ShellTool {',
    );
    expect(await code('search_symbols', { symbol_name: 'shell', symbol_type: 'class' })).toMatch(
      /^src\/shell\.ts:1 class ShellTool \|[^\n]*$/,
    );
    expect(await code('search_symbols', { symbol_name: 'shelltool', exact_match: true })).toBe('No symbol matches: shelltool');
    expect(await code('goto_definition', { symbol_name: 'Other.run' })).toBe('src/other.py:4 method Other.run | def run(self):');
    expect(await code('search_symbols', { symbol_name: 'run', language: 'typescript' })).toBe(
      'src/shell.ts:2 method ShellTool.run | run() {}',
    );
    expect(await code('search_symbols', { symbol_name: 'run', limit: 1 })).toMatch(/^src\/other[^\n]*\n\[the first 1 are shown: [^\n]+\]$/);
    expect(await code('search_symbols', { symbol_name: 'run', limit: 1, offset: 1 })).toBe(
      'src/shell.ts:2 method ShellTool.run | run() {}',
    );
  });

  it('shows the source of several definitions [TB-130]', async () => {
    await workspace.put('a.py', 'x = 1\ndef f():\n  return 1\n');
    const looked = await code('lookup_symbols', { symbols: ['f', 'gone'], include_source: true });
    expect(looked).toBe('a.py:2 function f | def f():\ndef f():\n  return 1\n\nNo symbol matches: gone');
  });

  it('finds a name in code, but not in comments, texts and longer names [TB-130]', async () => {
    await workspace.put('a.ts', 'function tax() {}\ntax(); // tax\nconst s = "tax";\nconst taxes = tax;\nconst o = { tax };\n');
    expect(await code('find_references', { symbol_name: 'tax' })).toBe(
      'a.ts:1:10 (definition) | function tax() {}\na.ts:2:1 | tax(); // tax\na.ts:4:15 | const taxes = tax;\na.ts:5:13 | const o = { tax };\n' +
        '[found by name, without types: other symbols of this name are among them]',
    );
  });

  it.each([
    [
      'typescript',
      'a.ts',
      'console.log($$$ARGS)',
      'log(1);\nconsole.log();\nconsole.log(a, "b");\n',
      'a.ts:2 | console.log(); ($ARGS=)\na.ts:3 | console.log(a, "b"); ($ARGS=a, "b")',
    ],
    ['typescript', 'a.ts', '$A === $A', 'x === y;\nx.y === x.y;\n', 'a.ts:2 | x.y === x.y; ($A=x.y)'],
    ['javascript', 'a.js', 'if ($_) { $$$ }', 'if (a) {\n  b();\n  c();\n}\nif (a) b();\n', 'a.js:1-4 | if (a) {'],
    ['python', 'a.py', 'def $NAME($$$): $$$BODY', 'def f(a, b):\n  return a\n', 'a.py:1-2 | def f(a, b): ($NAME=f, $BODY=return a)'],
    [
      'go',
      'a.go',
      'err != $X',
      'package p\nfunc f() { if err != nil { return } }\n',
      'a.go:2 | func f() { if err != nil { return } } ($X=nil)',
    ],
    ['rust', 'a.rs', '$X.unwrap()', 'fn f() { a.b().unwrap(); }\n', 'a.rs:1 | fn f() { a.b().unwrap(); } ($X=a.b())'],
    [
      'java',
      'A.java',
      'System.out.println($X)',
      'class A { void m() { System.out.println(1); } }\n',
      'A.java:1 | class A { void m() { System.out.println(1); } } ($X=1)',
    ],
    ['c', 'a.c', 'free($P)', 'void f(int *p) { free(p); }\n', 'a.c:1 | void f(int *p) { free(p); } ($P=p)'],
  ] as const)('finds %s in %s by the pattern %s [TB-130]', async (language, path, pattern, text, found) => {
    await workspace.put(path, text);
    expect(await code('pattern_search', { pattern, language })).toBe(found);
  });

  it('refuses a pattern that is no code, or a placeholder alone', async () => {
    await workspace.put('a.ts', 'x');
    expect(await code('pattern_search', { pattern: 'if (', language: 'typescript' })).toMatch(
      /^Invalid pattern: the pattern is no typescript code\. Write/,
    );
    expect(await code('pattern_search', { pattern: '$X', language: 'typescript' })).toMatch(
      /^Invalid pattern: the pattern is a placeholder alone\. Write/,
    );
  });

  it('shows the outline of a folder, with the place of each definition [TB-130]', async () => {
    await workspace.put('src/a.ts', 'class A { m() {} }\nfunction f() {}\nf();\n');
    await workspace.put('src/deep/b.py', 'def g():\n  pass\n');
    await workspace.put('.gitignore', 'dist\n');
    await workspace.put('dist/a.ts', 'class Built {}\n');
    expect(await code('search_codebase_map')).toBe('src/a.ts\n  1 class A\n  2 function f\nsrc/deep/b.py\n  1 function g');
    expect(await code('generate_codebase_overview')).toBe(
      [
        'Languages:',
        '  typescript: 1 files, 3 lines, 3 symbols',
        '  python: 1 files, 2 lines, 1 symbols',
        'Folders:',
        '  src: 1 files, 3 lines, 3 symbols',
        '  src/deep: 1 files, 2 lines, 1 symbols',
        'Files with the most symbols:',
        '  src/a.ts: class A, function f',
        '  src/deep/b.py: function g',
      ].join('\n'),
    );
  });

  it.each<[Args['operation'], Partial<Args>, string | RegExp]>([
    ['search_symbols', { symbol_name: ' ' }, 'symbol_name cannot be empty'],
    ['lookup_symbols', { symbols: [' '] }, 'symbols cannot be empty'],
    ['pattern_search', { pattern: 'x' }, 'pattern_search needs the language of the pattern: language'],
    ['get_document_symbols', { path: 'none.ts' }, /^File not found: none\.ts/],
    ['get_document_symbols', { path: '.' }, /^\. is a folder: give a file/],
    ['get_document_symbols', { path: 'notes.txt' }, /^notes\.txt is in no language that is parsed/],
    ['get_document_symbols', { path: '../outside/secret.txt' }, /^Path not allowed/],
  ])('refuses in code %s of %j', async (operation, args, message) => {
    await workspace.put('notes.txt', 'x');
    const answer = await code(operation, args);
    if (typeof message === 'string') expect(answer).toBe(message);
    else expect(answer).toMatch(message);
  });

  it('omits denied files from code results, and refuses them by name', async () => {
    await workspace.put('secret/a.ts', 'class Hidden {}\n');
    await workspace.put('a.ts', 'class Hidden2 {}\n');
    const denied = {
      denialReason: (path: string) => (path.startsWith(`${workspace.root}/secret`) ? 'It is denied.' : undefined),
      mayDenyBelow: () => true,
    };
    const careful = { workspace: { root: workspace.root, denied } };
    expect(await textFrom(run({ operation: 'search_symbols', symbol_name: 'Hidden' }, careful))).toMatch(
      /^a\.ts:1 class Hidden2 \|[^\n]*$/,
    );
    expect(await textFrom(run({ operation: 'search_codebase_map' }, careful))).toBe('a.ts\n  1 class Hidden2');
    expect(await textFrom(run({ operation: 'get_document_symbols', path: 'secret/a.ts' }, careful))).toMatch(/It is denied/);
  });

  it('reports the files that code omits: large, binary and too complex ones', async () => {
    await workspace.put('good.ts', 'class Good {}\n');
    await workspace.put('binary.ts', Buffer.from([0x63, 0, 0x64]));
    await workspace.put('large.ts', `class Large {}\n${' '.repeat(1_048_576)}`);
    await workspace.put('deep.ts', '(['.repeat(500_000));
    expect(await code('search_codebase_map')).toBe(
      'good.ts\n  1 class Good\n[2 files left out: too large, not text or not readable]\n[1 file left out: too complex to parse]',
    );
  });

  it('omits a file in which a pattern matches in too many ways, and keeps its thread', async () => {
    await workspace.put('few.ts', 'f(a, b, c, d, e, z);\n');
    for (const name of ['1', '2']) await workspace.put(`many${name}.ts`, `f(${'a, '.repeat(400)}b);\n`);
    const pattern = 'f($$$A, $$$B, $$$C, $$$D, $$$E, z)';
    const ends = jest.spyOn(Worker.prototype, 'terminate');
    const found = await code('pattern_search', { pattern, language: 'typescript' });
    expect(ends).not.toHaveBeenCalled();
    ends.mockRestore();
    expect(found).toContain('few.ts:1 | f(a, b, c, d, e, z)');
    expect(found).toContain('[2 files left out: too complex');
  });

  it('ends a parser with its call, and the next call is answered', async () => {
    await workspace.put('good.ts', 'class Good {}\n');
    await workspace.put('many.ts', 'f(a, '.repeat(100_000));
    const cancel = new AbortController();
    const hostile = run(
      { operation: 'pattern_search', pattern: 'f($$$A, $$$B, $$$C, $$$D)', language: 'typescript' },
      { signal: cancel.signal },
    );
    setImmediate(() => cancel.abort(new Error('cancelled')));
    await expect(hostile).rejects.toThrow('cancelled');
    expect(await code('search_symbols', { symbol_name: 'Good' })).toContain('good.ts:1 class Good');
  });

  it('answers in code with the facts as data too', async () => {
    await workspace.put('a.ts', 'class A {}\n');
    expect(await detailsFrom(run({ operation: 'search_symbols', symbol_name: 'A' }))).toMatchObject({
      symbols: [{ path: 'a.ts', name: 'A', kind: 'class', row: 1, column: 7, firstRow: 1, lastRow: 1 }],
      files: 1,
      truncated: false,
    });
  });
});
