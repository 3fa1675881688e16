// Converts HTML into Markdown or text, in a thread of html-worker-pool.ts. The pages are hostile: any failure ends the thread.
// parse5 reads a page like a browser. The parser of the converter loses text, so it gets a rewritten page that all parsers read
// alike: closed tags, escaped text, only the attributes that it shows.
const { parentPort, workerData } = require('node:worker_threads');
const { NodeHtmlMarkdown } = require(workerData.converter);
const { attributeOf, frameOf, ListNumbers, raised, refreshOf, TableSpans } = require('./html-elements.thread.cjs');

const set = (names) => new Set(names.split(' '));
/** Most characters of HTML without scripts and styles; more than five times the default size for a model. */
const MAX_HTML_CHARS = 300_000;
/** Wrong nesting multiplies elements; an honest page of 10 MiB has fewer. */
const MAX_ELEMENTS = 400_000;
const NO_TEXT = set('script style noscript noframes noembed template svg title base link meta head annotation annotation-xml');
/** Pages within the page. */
const FRAMES = set('iframe frame');
const HEADINGS = set('h1 h2 h3 h4 h5 h6');
const VOID = set('area br col embed hr img input param source track wbr');
const BLOCKS = set(
  'address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 ' +
    'h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary table tbody td tfoot th thead tr ul',
);
/** Inline elements with space around. */
const APART = set('button input option select textarea');
/** Elements in which the converter writes blocks in one line. */
const INLINE = set('a td th caption code pre h1 h2 h3 h4 h5 h6');
/** XML parts that HTML reads differently: self-closing elements, and sections of text. */
const XML_PARTS = /<!--[^]*?-->|<!\[CDATA\[([^]*?)\]\]>|<([a-z][\w:-]*)((?:[^<>"'/]|"[^"]*"|'[^']*'|\/(?!>))*)\/>/gi;
/** No character of any text, in place of the bars that are not those of a table. */
const BAR = '\ufdd0';
/** The same, in place of line ends in preformatted text, and before its first line: the converter joins and ends lines. */
const LINE = '\ufdd1';
const ATTRIBUTES = { a: ['href', 'title'], img: ['src', 'alt', 'title'], code: ['class'] };
/** Names that the converter knows, for others of the same meaning: blocks that it takes for inline elements become `div`. */
const RENAMED = {
  xmp: 'pre',
  listing: 'pre',
  plaintext: 'pre',
  details: 'div',
  dialog: 'div',
  legend: 'div',
  optgroup: 'div',
  search: 'div',
  summary: 'div',
};
/** Link to a place on this page, or with another scheme: the meaning does not depend on the base. */
const STAYS = /^\s*(?:#|[a-z][a-z\d+.-]*:)/i;

const WEB = /^https?:/;

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

/** Converter without its removal of declarations, which also removes text that shows one. */
function converter(options, translators) {
  const made = new NodeHtmlMarkdown(options, translators);
  made.options.textReplace = [];
  const item = made.translators.get('li');
  const numbered = (context) => {
    const form = item(context);
    const number = context.node.getAttribute('value');
    return number ? { ...form, prefix: form.prefix.replace(/(?:-?\d+\.|-) $/, `${number}. `) } : form;
  };
  made.translators.set('li', Object.assign(numbered, { base: item.base }));
  return made;
}

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

/** Title of a document, base address of its links, and address of an automatic redirect. */
function headOf(document, url) {
  let title;
  let base;
  let refresh;
  walk(document, (node) => {
    const isHtml = node.namespaceURI === undefined || node.namespaceURI.endsWith('/xhtml');
    if (isHtml && node.nodeName === 'title') title ??= node.childNodes.map(({ value = '' }) => value).join('');
    if (isHtml && node.nodeName === 'base') base ??= attributeOf(node, 'href');
    if (isHtml) refresh ??= refreshOf(node);
    return isHtml;
  });
  const given = base === undefined ? url : resolved(base, url);
  const begin = WEB.test(given) && URL.canParse(given) ? given : url;
  const next = refresh === undefined ? url : resolved(refresh, begin);
  return { title: title ?? '', base: begin, refresh: WEB.test(next) && next !== url ? next : undefined };
}

function isShown(node) {
  if (node.nodeName === 'template') return attributeOf(node, 'shadowrootmode') !== undefined;
  return !NO_TEXT.has(node.nodeName) && !node.nodeName.startsWith('#comment');
}

/**
 * A page written again, up to a size; what is open then is closed. `isScripted`: as by a browser that runs scripts.
 * `parse` reads pages within the page.
 */
function rewritten(document, { base, refresh, isScripted, showsLinks, parse }) {
  const parts = [];
  let length = 0;
  let last = '';
  let isCut = false;
  /** True at the beginning of preformatted text, and behind the end of a line in it. */
  let [isFresh, endsLine] = [false, false];
  const around = [];
  /** Numbers of open elements that are inline, preserve white space, are cells, headings, and links. */
  const open = { inline: 0, code: 0, cells: 0, headings: 0, links: 0 };
  const numbers = new ListNumbers();
  const spans = new TableSpans();
  /** False, since nothing is entered. */
  const write = (text) => {
    parts.push(text);
    length += text.length;
    last = text.at(-1) ?? last;
    return false;
  };
  const separate = (name) => {
    if (APART.has(name)) write(' ');
    if (!BLOCKS.has(name) || open.inline === 0) return;
    if (isListing()) endLine();
    else if (open.code === 0) write(' ');
    else if (last !== '\n' && last !== '>') write('\n');
  };
  const endLine = () => {
    if (!isFresh && !endsLine) write(LINE);
    endsLine = true;
  };
  const isListing = () => open.code > 0 && open.cells + open.headings + open.links === 0;
  const writeText = (text) => {
    const marked = open.cells > 0 ? text.replaceAll('|', BAR) : text;
    if (!isListing()) return write(escaped(marked));
    const begin = isFresh ? LINE : '';
    [isFresh, endsLine] = [false, text.endsWith('\n')];
    return write(begin + escaped(marked.replaceAll('\n', LINE)));
  };
  /** Writes empty cells in place of spanned ones, in a table outside of cells. */
  const writeCells = (count) => open.cells === 0 && write('<td></td>'.repeat(count));
  const enter = (node) => {
    isCut ||= length > MAX_HTML_CHARS;
    if (isCut || !(isShown(node) || (!isScripted && node.nodeName === 'noscript'))) return false;
    if (node.nodeName === '#text') writeText(node.value);
    if (node.tagName === undefined) return node.nodeName !== '#text';
    if (FRAMES.has(node.tagName)) {
      const { content, src, label } = frameOf(node, parse);
      if (content === undefined) write(linkOf(resolved(src, base), label, showsLinks));
      node.childNodes = content ?? [];
    }
    const name = FRAMES.has(node.tagName) ? 'div' : (RENAMED[node.tagName] ?? node.tagName);
    const high = raised(node);
    if (high !== undefined) return write(high);
    if (name === 'br' && isListing()) return writeText('\n');
    if (name !== 'br') separate(name);
    else if (open.cells > 0 || open.headings > 0) write(' ');
    writeCells(open.cells === 0 ? spans.enter(name) : 0);
    if (name === 'img' && imageOf(node) === undefined) writeText(attributeOf(node, 'alt') ?? '');
    else if (!isPlain(name, open)) write(`<${name}${name === 'li' ? itemNumber(numbers.of(node)) : attributesOf(node, base)}>`);
    if (name === 'q') write('“');
    if (name === 'a' && isMute(node)) writeText(attributeOf(node, 'aria-label') ?? attributeOf(node, 'title') ?? '');
    if (VOID.has(name)) return false;
    around.push(name);
    counted(open, name, 1);
    isFresh ||= name === 'pre' && open.code === 1;
    if (isBareListing(node, open)) write('<code>');
    return true;
  };
  if (refresh !== undefined) write(`<p>This page leads to ${escaped(refresh)}</p>`);
  walk(document, enter, (node) => {
    if (node.tagName === undefined) return;
    const name = around.pop();
    if (name === 'q') write('”');
    const isBare = isBareListing(node, open);
    if ((isBare || (name === 'code' && isAlone(node))) && isListing() && !isFresh) write(LINE);
    if (isBare) write('</code>');
    isFresh &&= name !== 'pre';
    counted(open, name, -1);
    const missing = open.cells === 0 ? spans.leave(name, node) : 0;
    if (name === 'tr') writeCells(missing);
    if (!isPlain(name, open)) write(`</${name}>`);
    if (name !== 'tr') writeCells(missing);
    // The converter leaves it out, and joins what is around.
    if (BLOCKS.has(name) && node.childNodes.length === 0) write(' ');
    separate(name);
  });
  return { html: parts.join(''), isCut };
}

/** Lines of preformatted text, each behind what stands before the first, in fences that are longer than those in it. */
function listed(text) {
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    const [before, ...rows] = line.split(LINE);
    if (rows.length === 0) continue;
    while (rows.length > 1 && rows.at(-1).trim() === '') rows.pop();
    const longest = rows.reduce((most, row) => Math.max(most, /^\s*(`{3,})/.exec(row)?.[1].length ?? 0), 2);
    for (const near of longest === 2 ? [] : [at - 1, at + 1])
      if (near in lines) lines[near] = lines[near].replace(/```(?=[^`]*$)/, '`'.repeat(longest + 1));
    lines[at] = rows.map((row) => before + row).join('\n');
  }
  return lines.join('\n').trimEnd();
}

function counted(open, name, by) {
  if (INLINE.has(name)) open.inline += by;
  if (name === 'pre') open.code += by;
  if (name === 'td' || name === 'th') open.cells += by;
  if (HEADINGS.has(name)) open.headings += by;
  if (name === 'a') open.links += by;
}

/** A link apart from what is around; where links are not shown, its label. */
function linkOf(to, label, isShownAsLink) {
  return isShownAsLink && WEB.test(to) ? ` <a href="${escaped(to)}">${escaped(label || to)}</a> ` : ` ${escaped(label)} `;
}

/**
 * True for an element of which only the text is converted: blocks in table cells, preformatted text and headings, elements
 * that the converter would leave out, and names that HTML does not have.
 */
function isPlain(name, { cells, code, headings }) {
  const isInCode = code > 0 && BLOCKS.has(name) && name !== 'pre';
  const isInCell = cells > 0 && BLOCKS.has(name) && name !== 'br';
  const isInHeading = headings > 0 && BLOCKS.has(name) && !HEADINGS.has(name);
  return isInCode || isInCell || isInHeading || name === 'noscript' || name === 'q' || !/^[a-z][a-z\d-]*$/.test(name);
}

const itemNumber = (number) => (number === undefined ? '' : ` value="${number}"`);

/** A link that shows nothing, such as a drawing: browsers read its label out. */
function isMute(link) {
  let shows = false;
  walk(link, (node) => {
    shows ||=
      (node.nodeName === '#text' && node.value.trim() !== '') || (node.nodeName === 'img' && attributeOf(node, 'alt') !== undefined);
    return !shows && isShown(node);
  });
  return !shows;
}

/** True for an element with nothing but white space beside it. */
function isAlone(node) {
  return node.parentNode.childNodes.every((it) => it === node || it.value?.trim() === '');
}

/** Preformatted text without an element for code, which the converter takes for prose. */
function isBareListing({ tagName, childNodes }, { cells, code }) {
  const isListing = tagName === 'pre' || RENAMED[tagName] === 'pre';
  return isListing && cells === 0 && code === 1 && !childNodes.some((child) => child.tagName === 'code');
}

/** Address of an image. Pages that load it later have a small one in its place. Undefined without an address. */
function imageOf(node) {
  const src = attributeOf(node, 'src')?.trim() ?? '';
  const first = (attributeOf(node, 'srcset') ?? attributeOf(node, 'data-srcset') ?? '').trim().split(/[\s,]/)[0];
  return [src, attributeOf(node, 'data-src'), first].find((it) => it !== undefined && it !== '' && !it.startsWith('data:'));
}

function attributesOf(node, base) {
  const kept = (ATTRIBUTES[node.tagName] ?? []).flatMap((name) => {
    const value = name === 'src' ? imageOf(node) : attributeOf(node, name);
    if (value === undefined) return [];
    const isLink = (name === 'href' || name === 'src') && !STAYS.test(value);
    return [` ${name}="${escaped(isLink ? resolved(value, base).replaceAll('|', '%7C') : value.trim())}"`];
  });
  return kept.join('');
}

function asHtml(whole, text, name, attributes) {
  if (text !== undefined) return escaped(text);
  return name === undefined || VOID.has(name.toLowerCase()) ? whole : `<${name}${attributes}></${name}>`;
}

/** Words of a page by its tokens alone, for pages with too many or too deep elements. */
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
        if (skipped === undefined && tagName !== 'iframe' && isShown({ nodeName: tagName, attrs: [] })) separate(tagName);
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

function converted(parser, { html, url, style, isXml = false }) {
  const adapter = parser.defaultTreeAdapter;
  let elements = 0;
  const createElement = (...args) => {
    elements += 1;
    if (elements > MAX_ELEMENTS) throw new RangeError('too many elements');
    return adapter.createElement(...args);
  };
  const source = isXml ? html.replace(XML_PARTS, asHtml) : html;
  const read = (scriptingEnabled) => {
    const parse = (text) => parser.parse(text, { scriptingEnabled, treeAdapter: { ...adapter, createElement } });
    const document = parse(source);
    const { title, base, refresh } = headOf(document, url);
    const page = rewritten(document, { base, refresh, isScripted: scriptingEnabled, showsLinks: style === 'markdown', parse });
    return { title, text: listed(styles[style].translate(page.html)).replaceAll(BAR, '\\|'), isCut: page.isCut };
  };
  const page = read(true);
  // A page that its scripts make says so in there, if anywhere.
  return page.text.trim() === '' && /<noscript/i.test(source) ? read(false) : page;
}

const ready = import(workerData.parser);
parentPort.on('message', async (page) => {
  const parser = await ready;
  parentPort.postMessage(page.style === 'bare' ? bare(parser, page.html) : converted(parser, page));
});
