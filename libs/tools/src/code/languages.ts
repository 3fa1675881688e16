import { CODE_LANGUAGES, type CodeLanguageName } from '#contracts';

/** A language of which source files are parsed. Adding one is an entry here, where its grammar is installed. */
export interface CodeLanguage {
  /** Name in the package of grammars. */
  readonly grammar: string;
  readonly extensions: readonly string[];
  /** tree-sitter query: `@name` inside the node of a definition, which is captured by its kind. The first one that fits counts. */
  readonly query: string;
  /** The grammar takes the text in brackets only. */
  readonly wrap?: boolean;
}

const JAVASCRIPT_COMMON = `
  (method_definition name: (property_identifier) @name (#eq? @name "constructor")) @constructor
  (method_definition name: (_) @name) @method
  (function_declaration name: (_) @name) @function
  (generator_function_declaration name: (_) @name) @function
  (class_declaration name: (_) @name) @class
  (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @function
  (program (lexical_declaration (variable_declarator name: (identifier) @name) @variable))
  (program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @variable)))
  (program (variable_declaration (variable_declarator name: (identifier) @name) @variable))`;

const JAVASCRIPT = `${JAVASCRIPT_COMMON}
  (field_definition property: (_) @name) @field`;

const TYPESCRIPT = `${JAVASCRIPT_COMMON}
  (abstract_class_declaration name: (_) @name) @class
  (interface_declaration name: (_) @name) @interface
  (type_alias_declaration name: (_) @name) @type
  (enum_declaration name: (_) @name) @enum
  (internal_module name: (_) @name) @module
  (module name: (_) @name) @module
  (function_signature name: (_) @name) @function
  (abstract_method_signature name: (_) @name) @method
  (method_signature name: (_) @name) @method
  (public_field_definition name: (_) @name) @field`;

const PYTHON = `
  (class_definition name: (_) @name) @class
  (function_definition name: (_) @name) @function
  (module (expression_statement (assignment left: (identifier) @name) @variable))`;

const GO = `
  (type_spec name: (_) @name type: (struct_type)) @struct
  (type_spec name: (_) @name type: (interface_type)) @interface
  (type_spec name: (_) @name) @type
  (type_alias name: (_) @name) @type
  (function_declaration name: (_) @name) @function
  (method_declaration name: (_) @name) @method
  (source_file (const_declaration (const_spec name: (identifier) @name) @constant))
  (source_file (var_declaration (var_spec name: (identifier) @name) @variable))`;

const RUST = `
  (struct_item name: (_) @name) @struct
  (union_item name: (_) @name) @struct
  (enum_item name: (_) @name) @enum
  (trait_item name: (_) @name) @trait
  (impl_item type: (_) @name) @impl
  (mod_item name: (_) @name) @module
  (function_item name: (_) @name) @function
  (function_signature_item name: (_) @name) @function
  (type_item name: (_) @name) @type
  (const_item name: (_) @name) @constant
  (static_item name: (_) @name) @constant
  (macro_definition name: (_) @name) @macro`;

const JAVA = `
  (class_declaration name: (_) @name) @class
  (record_declaration name: (_) @name) @class
  (interface_declaration name: (_) @name) @interface
  (annotation_type_declaration name: (_) @name) @interface
  (enum_declaration name: (_) @name) @enum
  (constructor_declaration name: (_) @name) @constructor
  (method_declaration name: (_) @name) @method
  (field_declaration declarator: (variable_declarator name: (_) @name)) @field`;

/** Names of functions stand below pointers and references. */
const cppFunctions = (outer: string, kind: string): string =>
  [
    '%',
    '(pointer_declarator declarator: %)',
    '(pointer_declarator declarator: (pointer_declarator declarator: %))',
    '(reference_declarator %)',
  ]
    .map((around) => `(${outer} declarator: ${around.replace('%', '(function_declarator declarator: (_) @name)')}) @${kind}`)
    .join('\n');

const CPP = `
  (class_specifier name: (_) @name body: (_)) @class
  (struct_specifier name: (_) @name body: (_)) @struct
  (union_specifier name: (_) @name body: (_)) @struct
  (enum_specifier name: (_) @name body: (_)) @enum
  (namespace_definition name: (_) @name) @module
  (concept_definition name: (_) @name) @type
  (alias_declaration name: (_) @name) @type
  (type_definition declarator: (type_identifier) @name) @type
  (preproc_def name: (_) @name) @macro
  (preproc_function_def name: (_) @name) @macro
  ${cppFunctions('function_definition', 'function')}
  ${cppFunctions('declaration', 'function')}
  ${cppFunctions('field_declaration', 'method')}`;

const BASH = `
  (function_definition name: (_) @name) @function
  (program (variable_assignment name: (variable_name) @name) @variable)
  (program (declaration_command (variable_assignment name: (variable_name) @name) @variable))`;

const C_SHARP = `
  (class_declaration name: (_) @name) @class
  (record_declaration name: (_) @name) @class
  (struct_declaration name: (_) @name) @struct
  (interface_declaration name: (_) @name) @interface
  (enum_declaration name: (_) @name) @enum
  (delegate_declaration name: (_) @name) @type
  (namespace_declaration name: (_) @name) @module
  (constructor_declaration name: (_) @name) @constructor
  (method_declaration name: (_) @name) @method
  (property_declaration name: (_) @name) @field`;

const RUBY = `
  (class name: (_) @name) @class
  (module name: (_) @name) @module
  (method name: (_) @name) @function
  (singleton_method name: (_) @name) @method
  (program (assignment left: (constant) @name) @constant)`;

const PHP = `
  (class_declaration name: (_) @name) @class
  (interface_declaration name: (_) @name) @interface
  (trait_declaration name: (_) @name) @trait
  (enum_declaration name: (_) @name) @enum
  (namespace_definition name: (_) @name) @module
  (function_definition name: (_) @name) @function
  (method_declaration name: (_) @name) @method`;

/** Languages. The package has no grammar for C: that of C++ parses it, except for names that are keywords of C++. */
export const LANGUAGES: Readonly<Record<CodeLanguageName, CodeLanguage>> = {
  bash: { grammar: 'bash', extensions: ['sh', 'bash'], query: BASH },
  c: { grammar: 'cpp', extensions: ['c', 'h'], query: CPP },
  cpp: { grammar: 'cpp', extensions: ['cpp', 'cc', 'cxx', 'hpp', 'hh', 'hxx'], query: CPP },
  csharp: { grammar: 'c-sharp', extensions: ['cs'], query: C_SHARP },
  go: { grammar: 'go', extensions: ['go'], query: GO },
  java: { grammar: 'java', extensions: ['java'], query: JAVA },
  javascript: { grammar: 'javascript', extensions: ['js', 'mjs', 'cjs', 'jsx'], query: JAVASCRIPT },
  json: { grammar: 'javascript', extensions: ['json'], query: '(pair key: (string (string_fragment) @name)) @key', wrap: true },
  php: { grammar: 'php', extensions: ['php'], query: PHP },
  python: { grammar: 'python', extensions: ['py', 'pyi'], query: PYTHON },
  ruby: { grammar: 'ruby', extensions: ['rb'], query: RUBY },
  rust: { grammar: 'rust', extensions: ['rs'], query: RUST },
  tsx: { grammar: 'tsx', extensions: ['tsx'], query: TYPESCRIPT },
  typescript: { grammar: 'typescript', extensions: ['ts', 'mts', 'cts'], query: TYPESCRIPT },
};

const BY_EXTENSION = new Map(CODE_LANGUAGES.flatMap((name) => LANGUAGES[name].extensions.map((extension) => [extension, name] as const)));

/** Language by file extension. Undefined for a file that is not parsed. */
export function languageOf(path: string): CodeLanguageName | undefined {
  return BY_EXTENSION.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase());
}

/** Further languages whose files may belong to the language. */
const ALSO: Partial<Record<CodeLanguageName, readonly CodeLanguageName[]>> = { typescript: ['tsx'], cpp: ['c'] };

/** A glob of the names of source files. */
export function sourceGlob(language: CodeLanguageName | undefined): string {
  const named = language === undefined ? CODE_LANGUAGES : [language, ...(ALSO[language] ?? [])];
  // JSON is data, and only searched on request.
  const extensions = named.filter((name) => name !== 'json' || language === 'json').flatMap((name) => [...LANGUAGES[name].extensions]);
  return extensions.length === 1 ? `*.${extensions[0]}` : `*.{${extensions.join(',')}}`;
}
