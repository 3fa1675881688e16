// Turns HTML into Markdown or text, in a thread of html-worker-pool.ts. The pages are hostile: whatever goes wrong ends the
// thread. parse5 reads a page as a browser does. The converter has a parser that loses text, so it gets the page written again
// in a form that each parser reads alike: closed tags, escaped text, only the attributes that it shows.
const { parentPort, workerData } = require('node:worker_threads');
const { NodeHtmlMarkdown } = require(workerData.converter);

const set = (names) => new Set(names.split(' '));
/** Of HTML without scripts and styles; more than five times what a model is given by default. */
const MAX_HTML_CHARS = 300_000;
/** Wrong nesting multiplies elements; an honest page of 10 MiB has fewer. */
const MAX_ELEMENTS = 400_000;
const NO_TEXT = set('script style noscript template svg iframe title base link meta head');
const VOID = set('area br col embed hr img input param source track wbr');
const BLOCKS = set(
  'address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 ' +
    'h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre section summary table tbody td tfoot th thead tr ul',
);
/** In these the converter writes blocks in one line. */
const INLINE = set('a td th caption code pre');
const ATTRIBUTES = { a: ['href', 'title'], img: ['src', 'alt', 'title'], code: ['class'] };
const RENAMED = { xmp: 'pre', listing: 'pre', plaintext: 'pre' };
/** A place on this page, or another scheme: both mean the same wherever they are read. */
const STAYS = /^\s*(?:#|[a-z][a-z\d+.-]*:)/i;

const never = [/(?!)/g, ''];
const apart = { surroundingNewlines: 2 };
const styles = {
  markdown: converter({ bulletMarker: '-' }),
  text: converter(
    { bulletMarker: '-', globalEscape: never, lineStartEscape: never },
    {
      a: {},
      code: {},
      'strong,b': {},
      'em,i': {},
      'del,s,strike': {},
      img: { ignore: true },
      blockquote: apart,
      'h1,h2,h3,h4,h5,h6': apart,
      pre: { ...apart, preserveWhitespace: true },
    },
  ),
};

/** Without its removal of declarations, which also removes text that shows one. */
function converter(options, translators) {
  const made = new NodeHtmlMarkdown(options, translators);
  made.options.textReplace = [];
  return made;
}

/** Texts without the white space around, attributes of elements, and where the links of a page lead. */
const attributeOf = (node, name) => node.attrs.find((it) => it.name === name)?.value;
const escaped = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
const resolved = (given, base) => (URL.canParse(given, base) ? new URL(given, base).href : given);

/** Each node of a tree in its order, without recursion: `leave` is called after what is in a node, if `enter` returned true. */
function walk(root, enter, leave = () => undefined) {
  const stack = [root];
  const entered = new Set();
  while (stack.length > 0) {
    const node = stack.at(-1);
    if (entered.has(node)) {
      stack.pop();
      entered.delete(node);
      leave(node);
    } else if (enter(node)) {
      entered.add(node);
      const isShown = node.nodeName === 'template' && attributeOf(node, 'shadowrootmode') !== undefined;
      const children = (isShown ? node.content : node).childNodes ?? [];
      for (let at = children.length - 1; at >= 0; at--) stack.push(children[at]);
    } else stack.pop();
  }
}

/** The title of a document, and the address that its links begin at. */
function headOf(document, url) {
  let title;
  let base;
  walk(document, (node) => {
    const isHtml = node.namespaceURI === undefined || node.namespaceURI.endsWith('/xhtml');
    if (isHtml && node.nodeName === 'title') title ??= node.childNodes.map(({ value = '' }) => value).join('');
    if (isHtml && node.nodeName === 'base') base ??= attributeOf(node, 'href');
    return isHtml && (title === undefined || base === undefined);
  });
  return { title: title ?? '', base: base === undefined ? url : resolved(base, url) };
}

function isShown(node) {
  if (node.nodeName === 'template') return attributeOf(node, 'shadowrootmode') !== undefined;
  return !NO_TEXT.has(node.nodeName) && !node.nodeName.startsWith('#comment');
}

/** A page written again, up to a size; what is open then is closed. */
function rewritten(document, base) {
  const parts = [];
  let length = 0;
  let last = '';
  let isCut = false;
  const around = [];
  /** How many of the open elements are in a line, keep white space, and are cells. */
  const open = { inline: 0, code: 0, cells: 0 };
  const count = (name, by) => {
    if (INLINE.has(name)) open.inline += by;
    if (name === 'pre') open.code += by;
    if (name === 'td' || name === 'th') open.cells += by;
  };
  const write = (text) => {
    parts.push(text);
    length += text.length;
    last = text.at(-1) ?? last;
  };
  const separate = (name) => {
    if (!BLOCKS.has(name) || open.inline === 0) return;
    if (open.code === 0) write(' ');
    else if (last !== '\n' && last !== '>') write('\n');
  };
  const enter = (node) => {
    isCut ||= length > MAX_HTML_CHARS;
    if (isCut || !isShown(node)) return false;
    if (node.nodeName === '#text') write(escaped(node.value));
    if (node.tagName === undefined) return node.nodeName !== '#text';
    const name = RENAMED[node.tagName] ?? node.tagName;
    if (name !== 'br') separate(name);
    if (!isPlain(name, open)) write(`<${name}${attributesOf(node, base)}>`);
    if (VOID.has(name)) return false;
    around.push(name);
    count(name, 1);
    return true;
  };
  walk(document, enter, ({ tagName }) => {
    if (tagName === undefined) return;
    const name = around.pop();
    count(name, -1);
    if (!isPlain(name, open)) write(`</${name}>`);
    separate(name);
  });
  return { html: parts.join(''), isCut };
}

/** The parts of a table in a cell, where the converter knows no tables; names that are not those of HTML elements. */
function isPlain(name, { cells }) {
  return (cells > 0 && BLOCKS.has(name) && name !== 'br') || !/^[a-z][a-z\d-]*$/.test(name);
}

function attributesOf(node, base) {
  const kept = (ATTRIBUTES[node.tagName] ?? []).flatMap((name) => {
    const value = attributeOf(node, name);
    if (value === undefined) return [];
    const isLink = (name === 'href' || name === 'src') && !STAYS.test(value);
    return [` ${name}="${escaped(isLink ? resolved(value, base) : value.trim())}"`];
  });
  return kept.join('');
}

/** The words of a page by its tokens alone: for pages that have too many elements, or too deep ones. */
function bare({ Tokenizer, TokenizerMode }, html) {
  const raw = {
    title: 'RCDATA',
    textarea: 'RCDATA',
    script: 'SCRIPT_DATA',
    style: 'RAWTEXT',
    iframe: 'RAWTEXT',
    xmp: 'RAWTEXT',
    plaintext: 'PLAINTEXT',
  };
  const texts = { title: '', body: '' };
  /** The element without text that is open, and how many of its name. */
  let skipped;
  let depth = 0;
  const text = ({ chars }) => {
    if (skipped === undefined) texts.body += chars;
    else if (skipped === 'title') texts.title += chars;
  };
  const separate = (name) => (texts.body += BLOCKS.has(name) ? (name === 'td' || name === 'th' ? ' ' : '\n') : '');
  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag({ tagName, selfClosing }) {
        if (Object.hasOwn(raw, tagName) && skipped !== 'svg') tokenizer.state = TokenizerMode[raw[tagName]];
        if (skipped === 'svg' && BLOCKS.has(tagName)) skipped = undefined;
        if (skipped === undefined && isShown({ nodeName: tagName, attrs: [] })) separate(tagName);
        else if (skipped === undefined && !/^(?:base|link|meta|head)$/.test(tagName) && !(tagName === 'svg' && selfClosing))
          skipped = tagName;
        if (skipped === tagName && !(tagName === 'svg' && selfClosing)) depth += 1;
      },
      onEndTag({ tagName }) {
        if (skipped === undefined) separate(tagName);
        if (skipped !== tagName) return;
        depth -= 1;
        if (depth === 0) skipped = undefined;
      },
      onCharacter: text,
      onWhitespaceCharacter: text,
      onNullCharacter() {},
      onComment() {},
      onDoctype() {},
      onEof() {},
    },
  );
  tokenizer.write(html, true);
  const lines = texts.body.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').trim());
  return { title: texts.title, text: lines.filter((line) => line !== '').join('\n'), isCut: false };
}

function converted(parser, { html, url, style }) {
  const adapter = parser.defaultTreeAdapter;
  let elements = 0;
  const createElement = (...args) => {
    elements += 1;
    if (elements > MAX_ELEMENTS) throw new RangeError('too many elements');
    return adapter.createElement(...args);
  };
  const document = parser.parse(html, { treeAdapter: { ...adapter, createElement } });
  const { title, base } = headOf(document, url);
  const page = rewritten(document, base);
  return { title, text: styles[style].translate(page.html), isCut: page.isCut };
}

const ready = import(workerData.parser);
parentPort.on('message', async (page) => {
  const parser = await ready;
  parentPort.postMessage(page.style === 'bare' ? bare(parser, page.html) : converted(parser, page));
});
