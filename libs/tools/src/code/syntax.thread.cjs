// Parses source files with tree-sitter, in a thread of libs/tools/src/code/syntax-threads.ts. The files are hostile: any
// failure ends the thread. Rows and columns in results count from 1.
const { parentPort, workerData } = require('node:worker_threads');
const { Language, Parser, Query } = require(workerData.library);

/** 256 MiB. V8's own limits do not cover the memory of WebAssembly. */
const MOST_PAGES = 4_096;
/** Time limit for parsing a file, and again for finding its definitions or matching a pattern. Deep nesting takes quadratic time. */
const MOST_MS = 1_000;
const LINE_CHARACTERS = 300;
const TYPES_WITH_METHODS = ['class', 'struct', 'interface', 'trait', 'enum', 'impl'];

// oxlint-disable-next-line typescript/unbound-method -- called with its object below
const grow = WebAssembly.Memory.prototype.grow;
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength / 65_536 + pages > MOST_PAGES) throw new RangeError('out of memory');
  return grow.call(this, pages);
};

const ready = Parser.init();
const grammars = new Map();

async function grammarOf(language) {
  await ready;
  const { wasm, query, wrap } = workerData.languages[language];
  if (!grammars.has(wasm)) grammars.set(wasm, await Language.load(wasm));
  if (!grammars.has(language)) {
    const grammar = grammars.get(wasm);
    const parser = new Parser();
    parser.setLanguage(grammar);
    grammars.set(language, { parser, wrap, query: new Query(grammar, query) });
  }
  return grammars.get(language);
}

class TooComplex extends Error {}

/** Passes the parser an option that stops it at the end of the budget. */
function withBudget(work) {
  const until = performance.now() + MOST_MS;
  let over = false;
  const result = work({ progressCallback: () => (over ||= performance.now() > until) });
  if (over) throw new TooComplex();
  return result;
}

/** Tree of a text in the coordinates of the text. Some texts need brackets around them to fit the grammar. */
async function withTree({ language, text }, use) {
  const { parser, wrap, query } = await grammarOf(language);
  parser.reset();
  const source = wrap === true ? `(${text}\n)` : text;
  const tree = withBudget((options) => parser.parse(source, null, options));
  const shift = wrap === true ? 1 : 0;
  const at = ({ row, column }) => ({ row: row + 1, column: column + 1 - (row === 0 ? shift : 0) });
  try {
    return use({ root: tree.rootNode, query, at, shift, source });
  } finally {
    tree.delete();
  }
}

function lineAt(text, index) {
  const from = text.lastIndexOf('\n', index - 1) + 1;
  const end = text.indexOf('\n', index);
  return text
    .slice(from, end < 0 ? undefined : end)
    .trim()
    .slice(0, LINE_CHARACTERS);
}

/** Last row of a node. A node that includes its line break ends before it. */
function lastRowOf({ startPosition, endPosition }, at) {
  return at(endPosition).row - (endPosition.column === 0 && endPosition.row > startPosition.row ? 1 : 0);
}

/** Definitions in the order of the text, each with the names around it. */
function symbolsOf({ text }, { root, query, at, shift }, most) {
  const found = new Map();
  for (const { captures, patternIndex } of withBudget((options) => query.matches(root, options))) {
    const name = captures.find((it) => it.name === 'name');
    const definition = captures.find((it) => it.name !== 'name');
    if (name === undefined || definition === undefined) continue;
    const before = found.get(name.node.startIndex);
    if (before === undefined || patternIndex < before.patternIndex) found.set(name.node.startIndex, { name, definition, patternIndex });
    if (found.size > most) break;
  }
  const around = [];
  const sorted = [...found.values()].sort(
    (a, b) => a.definition.node.startIndex - b.definition.node.startIndex || b.definition.node.endIndex - a.definition.node.endIndex,
  );
  return sorted.flatMap(({ name, definition: { node, name: kind } }) => {
    while (around.length > 0 && around.at(-1).end < node.endIndex) around.pop();
    const outer = around.at(-1);
    const symbol = {
      name: name.node.text.slice(0, LINE_CHARACTERS),
      kind: kind === 'function' && TYPES_WITH_METHODS.includes(outer?.kind) ? 'method' : kind,
      within: around
        .map((it) => it.name)
        .join('.')
        .slice(0, LINE_CHARACTERS),
      ...at(name.node.startPosition),
      firstRow: at(node.startPosition).row,
      lastRow: lastRowOf(node, at),
      line: lineAt(text, name.node.startIndex - shift),
    };
    around.push({ name: symbol.name, kind, end: node.endIndex });
    return kind === 'impl' ? [] : [symbol];
  });
}

/** Occurrences of a name as code, outside of comments and strings. */
function occurrencesOf({ text }, { root, query, at, shift }, name, most) {
  const captures = withBudget((options) => query.captures(root, options));
  const definitions = new Set(captures.flatMap((it) => (it.name === 'name' ? [it.node.startIndex] : [])));
  const found = [];
  for (let from = text.indexOf(name); from >= 0 && found.length < most; from = text.indexOf(name, from + name.length)) {
    const node = root.descendantForIndex(from + shift, from + shift + name.length - 1);
    if (node === null || node.namedChildCount > 0 || !node.isNamed || node.text !== name || /comment|string|text/.test(node.type)) continue;
    found.push({ ...at(node.startPosition), line: lineAt(text, from), definition: definitions.has(node.startIndex) });
  }
  return found;
}

// A pattern is code. `$NAME` is any one node, the same wherever the name is repeated, `$_` any one, `$$$` or `$$$NAME` any number.
const asCode = (pattern) =>
  pattern.replaceAll(/\$\$\$([A-Z_][A-Z0-9_]*)?/g, (_all, name = '') => `__many_${name}`).replaceAll(/\$([A-Z_][A-Z0-9_]*)/g, '__one_$1');
const ONE = /^__one_(\w+)$/;
const MANY = /^__many_(\w*)$/;

/** Template of a pattern, parsed unchanged or with a semicolon. Undefined if the pattern is not code of the language. */
async function patternTree(language, pattern) {
  const code = asCode(pattern);
  for (const text of [code, `${code};`]) {
    const found = await withTree({ language, text }, ({ root }) => {
      if (root.hasError) return undefined;
      let node = root;
      const own = () => node.children.filter((child) => child.text !== '' && !(child.text === ';' && text !== code));
      while (own().length === 1) [node] = own();
      return toTemplate(node);
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

function toTemplate(node) {
  const { text } = node;
  const one = ONE.exec(text)?.[1];
  const many = MANY.exec(text.replace(/;$/, ''))?.[1];
  if (many !== undefined) return { many };
  if (one !== undefined) return { one };
  return { type: node.type, text, children: significant(node).map(toTemplate) };
}

/** Children that matter: without comments, and without a comma or semicolon at the end. */
function significant({ children }) {
  const kept = children.filter((child) => !child.type.includes('comment'));
  const ends = (child, index) => index > 0 && (child.text === ';' || (child.text === ',' && /^[)\]}]$/.test(kept[index + 1]?.text ?? '')));
  return kept.filter((child, index) => !ends(child, index));
}

function matches(template, node, names) {
  if (template.one !== undefined) return bind(template.one, node.text, names);
  if (template.type !== node.type) return false;
  if (template.children.length === 0) return template.text === node.text;
  return matchesAll(template.children, significant(node), names);
}

/** Deadline of a pattern: each `$$$` tries all lengths, so several of them take polynomial time in the nodes. */
let patternUntil = 0;
/** Source of the pattern, to which positions of its nodes refer. */
let patternSource = '';

function checkPatternBudget() {
  if (performance.now() > patternUntil) throw new TooComplex();
}

function matchesAll([first, ...rest], nodes, names) {
  checkPatternBudget();
  if (first === undefined) return nodes.length === 0;
  if (first.many === undefined) return nodes.length > 0 && matches(first, nodes[0], names) && matchesAll(rest, nodes.slice(1), names);
  for (let taken = 0; taken <= nodes.length; taken += 1) {
    checkPatternBudget();
    const tried = new Map(names);
    const text = taken === 0 ? '' : patternSource.slice(nodes[0].startIndex, nodes[taken - 1].endIndex);
    if (!(first.many === '' || bind(first.many, text, tried)) || !matchesAll(rest, nodes.slice(taken), tried)) continue;
    for (const [name, value] of tried) names.set(name, value);
    return true;
  }
  return false;
}

function bind(name, text, names) {
  if (name === '_') return true;
  if (names.has(name)) return names.get(name) === text;
  names.set(name, text);
  return true;
}

function patternMatches({ text }, { root, at, shift, source }, template, most) {
  patternSource = source;
  patternUntil = performance.now() + MOST_MS;
  const found = [];
  for (const node of root.descendantsOfType(template.type)) {
    if (found.length === most) break;
    const names = new Map();
    if (!matches(template, node, names)) continue;
    const { startIndex, endIndex, startPosition } = node;
    found.push({
      ...at(startPosition),
      lastRow: lastRowOf(node, at),
      from: startIndex - shift,
      to: endIndex - shift,
      line: lineAt(text, startIndex - shift),
      names: Object.fromEntries(names),
    });
  }
  return found;
}

function resultsOf(file, tree, job, template) {
  switch (job.kind) {
    case 'symbols':
      return symbolsOf(file, tree, job.most);
    case 'occurrences':
      return occurrencesOf(file, tree, job.name, job.most);
    default:
      return patternMatches(file, tree, template, job.most);
  }
}

/** Template for each language of the files, or the reason why there is none. */
async function templatesOf(files, { kind, pattern }) {
  const templates = new Map();
  for (const language of kind === 'pattern' ? new Set(files.map((file) => file.language)) : []) {
    const template = await patternTree(language, pattern);
    if (template === undefined) return { fault: `the pattern is no ${language} code` };
    if (template.type === undefined) return { fault: 'the pattern is a placeholder alone' };
    templates.set(language, template);
  }
  return { templates };
}

async function run({ files, job }) {
  const { fault, templates } = await templatesOf(files, job);
  if (fault !== undefined) return { fault };
  const results = [];
  for (const file of files) {
    const result = await withTree(file, (tree) => resultsOf(file, tree, job, templates.get(file.language))).catch((error) => {
      if (!(error instanceof TooComplex)) throw error;
    });
    results.push(result);
  }
  return { results };
}

// Unhandled rejections are intended: they end the thread, and the pool creates a new one.
parentPort.on('message', async (task) => parentPort.postMessage(await run(task)));
