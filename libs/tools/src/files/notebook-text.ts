import { type Node, parseTree } from 'jsonc-parser';
import { z } from 'zod';
import { strictJson } from './notebook-json.js';

/** A change of a text at one place. */
interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Layout of a part of the text: on separate lines with this indentation, or in one line. */
interface Form {
  readonly lineEnd: string;
  /** Indentation of one level; empty for a single line. */
  readonly unit: string;
  /** Spaces behind commas and colons in a single line. */
  readonly gap: string;
}

/**
 * The text of a notebook, of which single cells are changed: every other byte stays, with its numbers, escapes, order,
 * indentation and end. (`modify` of jsonc-parser also formats the cells around.) The text is a valid notebook.
 */
export class NotebookText {
  private readonly cells: Node;
  /** Text from which the positions of the nodes are parsed. */
  private readonly strict: string;

  constructor(private readonly text: string) {
    this.strict = strictJson(text);
    const root = parseTree(this.strict);
    const cells = root && valueOf(root, 'cells');
    if (cells === undefined) throw new Error('the notebook was not validated');
    this.cells = cells;
  }

  insert(index: number, cell: Readonly<Record<string, unknown>>): string {
    const { children = [], offset, length } = this.cells;
    const before = children[index];
    const other = before ?? children.at(-1);
    if (other === undefined) {
      const form = this.formOf(this.cells.parent?.parent ?? this.cells);
      const outer = this.indentAt(this.cells.parent?.offset ?? offset);
      const own = form.unit === '' ? '' : `${form.lineEnd}${outer}${form.unit}`;
      const after = form.unit === '' ? '' : `${form.lineEnd}${outer}`;
      return this.spliced({ from: offset, to: offset + length, text: `[${own}${render(cell, outer + form.unit, form)}${after}]` });
    }
    const written = render(cell, this.indentAt(other.offset), this.formOf(other));
    const gap = this.gapBefore(children[1] ?? other, this.formOf(other));
    if (before !== undefined) return this.spliced({ from: before.offset, to: before.offset, text: `${written},${gap}` });
    const end = other.offset + other.length;
    return this.spliced({ from: end, to: end, text: `,${gap}${written}` });
  }

  delete(index: number): string {
    return this.spliced(this.without(this.cells, index));
  }

  /** Sets the properties that differ; undefined removes one. */
  change(index: number, properties: Readonly<Record<string, unknown>>): string {
    return Object.entries(properties).reduce((text, [key, value]) => new NotebookText(text).set(index, key, value), this.text);
  }

  private set(index: number, key: string, value: unknown): string {
    const cell = this.cells.children?.[index];
    const { children = [] } = cell ?? {};
    const at = children.findLastIndex(({ children: [name] = [] }) => name?.value === key);
    const there = children[at]?.children?.[1];
    if (cell === undefined || (there === undefined && value === undefined)) return this.text;
    if (value === undefined) return this.spliced(this.without(cell, at));
    if (there === undefined) return this.spliced(this.added(cell, key, value));
    const [from, to] = [there.offset, there.offset + there.length];
    if (JSON.stringify(JSON.parse(this.strict.slice(from, to))) === JSON.stringify(value)) return this.text;
    return this.spliced({ from, to, text: render(value, this.indentAt(children[at]?.offset ?? 0), this.formOf(cell)) });
  }

  /** Splice that adds a key. Keys are in order of names, like Jupyter's, if the existing ones are. */
  private added(cell: Node, key: string, value: unknown): Splice {
    const form = this.formOf(cell);
    const { children = [] } = cell;
    const next = children.find(({ children: [name] = [] }) => String(name?.value) > key);
    const other = next ?? children.at(-1) ?? cell;
    const gap = this.gapBefore(children[1] ?? other, form);
    const written = `${JSON.stringify(key)}:${form.unit === '' ? form.gap : ' '}${render(value, this.indentAt(other.offset), form)}`;
    const end = other.offset + other.length;
    return next === undefined
      ? { from: end, to: end, text: `,${gap}${written}` }
      : { from: next.offset, to: next.offset, text: `${written},${gap}` };
  }

  /** An item of a list or object, with one comma. */
  private without({ offset, length, children = [] }: Node, index: number): Splice {
    const [before, item, after] = [children[index - 1], children[index], children[index + 1]];
    if (item !== undefined && after !== undefined) return { from: item.offset, to: after.offset, text: '' };
    if (item !== undefined && before !== undefined) return { from: before.offset + before.length, to: item.offset + item.length, text: '' };
    return { from: offset + 1, to: offset + length - 1, text: '' };
  }

  /** Layout of an existing node. */
  private formOf(node: Node): Form {
    const own = this.text.slice(node.offset, node.offset + node.length);
    const [, lineEnd, inner = ''] = /^[[{](\r?\n)([ \t]*)/.exec(own) ?? [];
    const [name, value] = firstProperty(node) ?? [];
    const gap =
      name !== undefined && value !== undefined && this.text.slice(name.offset + name.length, value.offset).endsWith(' ') ? ' ' : '';
    if (lineEnd === undefined) return { lineEnd: '', unit: '', gap };
    return { lineEnd, unit: inner.slice(this.indentAt(node.offset).length) || ' ', gap };
  }

  private gapBefore({ offset }: Node, { unit, gap }: Form): string {
    const space = /\s*$/.exec(this.text.slice(0, offset))?.[0] ?? '';
    return space.includes('\n') || unit !== '' ? space : gap;
  }

  private indentAt(offset: number): string {
    const line = this.text.slice(this.text.lastIndexOf('\n', offset - 1) + 1, offset);
    return /^[ \t]*/.exec(line)?.[0] ?? '';
  }

  private spliced({ from, to, text }: Splice): string {
    return this.text.slice(0, from) + text + this.text.slice(to);
  }
}

/** Name and value of the first property in a value. */
function firstProperty({ type, children = [] }: Node): readonly Node[] | undefined {
  if (type === 'property') return children;
  return children[0] && firstProperty(children[0]);
}

function valueOf(object: Node, key: string): Node | undefined {
  return object.children?.findLast(({ children: [name] = [] }) => name?.value === key)?.children?.[1];
}

const Items = z.array(z.unknown());
const Properties = z.record(z.string(), z.unknown());

function render(value: unknown, indent: string, form: Form): string {
  const list = Items.safeParse(value);
  const object = list.success ? undefined : Properties.safeParse(value);
  if (list.success)
    return brackets(
      '[]',
      list.data.map((item) => render(item, indent + form.unit, form)),
      indent,
      form,
    );
  if (object?.success !== true) return JSON.stringify(value);
  const gap = form.unit === '' ? form.gap : ' ';
  const properties = Object.entries(object.data).map(
    ([key, item]) => `${JSON.stringify(key)}:${gap}${render(item, indent + form.unit, form)}`,
  );
  return brackets('{}', properties, indent, form);
}

function brackets(pair: string, items: readonly string[], indent: string, { lineEnd, unit, gap }: Form): string {
  if (items.length === 0) return pair;
  const [open = '', close = ''] = pair;
  if (unit === '') return open + items.join(`,${gap}`) + close;
  const line = `${lineEnd}${indent}${unit}`;
  return `${open}${line}${items.join(`,${line}`)}${lineEnd}${indent}${close}`;
}
