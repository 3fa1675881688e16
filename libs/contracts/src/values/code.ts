/** Kinds of definitions that code tools find. */
export const CODE_SYMBOL_KINDS = [
  'class',
  'constant',
  'constructor',
  'enum',
  'field',
  'function',
  'interface',
  'key',
  'macro',
  'method',
  'module',
  'struct',
  'trait',
  'type',
  'variable',
] as const;
export type CodeSymbolKind = (typeof CODE_SYMBOL_KINDS)[number];

/** Languages that code tools parse. */
export const CODE_LANGUAGES = [
  'bash',
  'c',
  'cpp',
  'csharp',
  'go',
  'java',
  'javascript',
  'json',
  'php',
  'python',
  'ruby',
  'rust',
  'tsx',
  'typescript',
] as const;
export type CodeLanguageName = (typeof CODE_LANGUAGES)[number];
