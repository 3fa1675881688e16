// Parts of pages that the converter of html.thread.cjs does not know: numbers of lists, cells that span, frames, raised digits.

const attributeOf = (node, name) => node.attrs.find((it) => it.name === name)?.value;

/** An attribute with a whole number, as HTML reads it. */
function integerOf(node, name) {
  const digits = /^\s*([+-]?\d{1,9})/.exec(attributeOf(node, name) ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The numbers of the items of a list in order: `start`, `reversed`, `value`. */
class ListNumbers {
  lists = new WeakMap();

  /** Undefined for an item of a list without numbers. */
  of(item) {
    const list = item.parentNode;
    if (list?.tagName !== 'ol') return undefined;
    const step = attributeOf(list, 'reversed') === undefined ? 1 : -1;
    const first = () => integerOf(list, 'start') ?? (step > 0 ? 1 : list.childNodes.filter(({ tagName }) => tagName === 'li').length);
    const number = integerOf(item, 'value') ?? this.lists.get(list) ?? first();
    this.lists.set(list, number + step);
    return number;
  }
}

const GROUPS = new Set(['thead', 'tbody', 'tfoot']);
const CELLS = new Set(['td', 'th']);
const MAX_SPAN = 100;
const MAX_ROWS = 1_000;

/** Number of empty cells in place of cells that span several columns or rows. */
class TableSpans {
  /** Remaining rows of a spanning cell by column, including the present row. */
  rows = [];
  column = 0;

  /** Empty cells before an entered element. */
  enter(name) {
    // Rows are spanned within their group only.
    if (name === 'table' || GROUPS.has(name)) this.rows = [];
    if (name === 'tr') this.column = 0;
    return CELLS.has(name) ? this.before() : 0;
  }

  /** Empty cells behind a left element. */
  leave(name, node) {
    if (name === 'tr') return this.end();
    return CELLS.has(name) ? this.cell(node) : 0;
  }

  before() {
    const from = this.column;
    while ((this.rows[this.column] ?? 0) > 0) this.column += 1;
    return this.column - from;
  }

  cell(node) {
    const columns = Math.min(Math.max(integerOf(node, 'colspan') ?? 1, 1), MAX_SPAN);
    const given = integerOf(node, 'rowspan') ?? 1;
    const rows = given === 0 ? MAX_ROWS : Math.min(Math.max(given, 1), MAX_ROWS);
    for (let index = 0; index < columns; index += 1) this.rows[this.column + index] = rows;
    this.column += columns;
    return columns - 1;
  }

  end() {
    const last = this.rows.findLastIndex((rows) => rows > 0);
    const missing = Math.max(0, last + 1 - this.column);
    this.rows = this.rows.map((rows) => Math.max(0, rows - 1));
    return missing;
  }
}

const RAISED = { sup: ['0123456789+-−=()n', '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ'], sub: ['0123456789+-−=()', '₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎'] };

/** Digits of an exponent or a formula, which would be those of the number before. Undefined where others are among them. */
function raised({ tagName, childNodes }) {
  const [plain, high] = RAISED[tagName] ?? [];
  if (plain === undefined || childNodes.length !== 1 || childNodes[0].nodeName !== '#text') return undefined;
  const chars = [...childNodes[0].value.trim()];
  return chars.length > 0 && chars.length < 20 && chars.every((it) => plain.includes(it))
    ? chars.map((it) => [...high][[...plain].indexOf(it)]).join('')
    : undefined;
}

/** Address of an automatic redirect in `<meta http-equiv="refresh">`. */
function refreshOf(node) {
  if (node.nodeName !== 'meta' || attributeOf(node, 'http-equiv')?.trim().toLowerCase() !== 'refresh') return undefined;
  const content = (attributeOf(node, 'content') ?? '').slice(0, 2_000).trim();
  return /^[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?(["']?)(.+?)\1$/is.exec(content)?.[2]?.trim();
}

/** Page within the page: its content if inline, else its address. */
function frameOf(node, parse) {
  const inner = attributeOf(node, 'srcdoc');
  const label = attributeOf(node, 'title') ?? attributeOf(node, 'name') ?? '';
  if (inner === undefined) return { src: attributeOf(node, 'src') ?? 'about:blank', label: label.trim() };
  return { content: parse(inner).childNodes };
}

module.exports = { attributeOf, frameOf, ListNumbers, TableSpans, raised, refreshOf };
