import { isAscii } from 'node:buffer';
import { TextDecoder } from 'node:util';
import iconv from 'iconv-lite';
import { parse, type DefaultTreeAdapterTypes } from 'parse5';

const TEXT_LIKE =
  /^(?:text\/|message\/rfc822|application\/(?:x-)?(?:json|json5|jsonl|jsonlines|ndjson|xml|xml-dtd|javascript|ecmascript|typescript|yaml|toml|csv|graphql|sql|rtf|sh|perl|python|ruby|httpd-php|tex|latex|subrip|mpegurl|mbox|n-triples|n-quads|sparql-query|www-form-urlencoded)\b|application\/vnd\.apple\.mpegurl\b|[^;]+\+(?:json|xml|yaml|csv)\b)/i;
/** First bytes of PDF, PNG, GIF, ZIP, gzip and JPEG: some servers call them text. */
const SIGNATURES = ['255044462d', '89504e470d0a', '47494638', '504b0304', '1f8b08', 'ffd8ff'];
/** Labels that browsers do not know, and that servers send. */
const LABELS = new Map(
  Object.entries({ cp932: 'shift_jis', cp936: 'gbk', cp949: 'euc-kr', cp950: 'big5', cp65001: 'utf-8', utf8mb4: 'utf-8' }),
);

/** Encodings whose further characters some releases of Node lack: half of Korean, Big5 of Hong Kong, Romanian. */
const PACKAGED = new Map(Object.entries({ 'euc-kr': 'cp949', big5: 'big5-hkscs', 'iso-8859-16': 'iso-8859-16' }));

type Decode = (body: Buffer) => string;

export function isTextLike(contentType: string): boolean {
  return TEXT_LIKE.test(contentType.trim());
}

export function isHtml(contentType: string): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType);
}

/** XHTML by its type, or as a document of XML whose first element is a page. */
export function isXhtml(contentType: string, source: string): boolean {
  if (/^\s*application\/xhtml\+xml\b/i.test(contentType)) return true;
  const root = /^\s*(?:application|text)\/xml\b/i.test(contentType) ? /<html(?=\s)[^<>]*>/.exec(source.slice(0, 4_096)) : null;
  const before = source.slice(0, root?.index ?? 0).replaceAll(/<!--[^]*?-->|<[?!][^<>]*>/g, '');
  return root !== null && before.trim() === '' && /\sxmlns\s*=\s*["']http:\/\/www\.w3\.org\/1999\/xhtml["']/.test(root[0]);
}

/** A body that begins as files do which are no text, whatever its type says. A text may begin with the same letters. */
export function hasSignature(body: Buffer): boolean {
  const start = body.toString('hex', 0, 8);
  return SIGNATURES.some((it) => start.startsWith(it)) && !isPlainText(body);
}

/** Valid UTF-8 without control characters, as browsers tell texts from files (WHATWG, MIME Sniffing, "binary data byte"). */
function isPlainText(body: Buffer): boolean {
  // oxlint-disable-next-line no-control-regex -- it is about these
  return !/[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f]/.test(validUtf8(body) ?? '\0');
}

/** Types without information, and texts that are no type: the bytes decide. */
export function isUntyped(contentType: string): boolean {
  return !contentType.includes('/') || /^\s*(?:application\/octet-stream|unknown)/i.test(contentType);
}

/** No text has NUL bytes (UTF-16, which has, must be declared). */
export function looksBinary(body: Buffer): boolean {
  return body.subarray(0, 8_192).includes(0);
}

/**
 * Body as text, without its byte order mark. The encoding is the first known one of:
 * 1. the byte order mark, or NUL bytes in each second place, as in UTF-16 without one;
 * 2. the charset of the header;
 * 3. UTF-8, if the bytes are valid and not only ASCII, despite any declaration in the document;
 * 4. the XML declaration, the `meta` element of a page, the `@charset` of a style sheet;
 * 5. UTF-8 if some characters are valid, else windows-1252, as in browsers.
 * Invalid bytes become U+FFFD.
 */
export function decodeBody(body: Buffer, contentType: string): string {
  const labels = [markOf(body), /charset\s{0,8}=\s{0,8}["']?([\w.:-]{1,40})/i.exec(contentType)?.[1]];
  const given = labels.map(decoderOf).find((it) => it !== undefined);
  if (given !== undefined) return given(body);
  const text = isAscii(body) ? undefined : validUtf8(body);
  if (text !== undefined) return text;
  const declared = decoderOf(declaredIn(body, contentType));
  return declared === undefined ? guessed(body) : declared(body);
}

function decoderOf(label: string | undefined): Decode | undefined {
  if (label === undefined) return undefined;
  const name = LABELS.get(label.toLowerCase()) ?? label.toLowerCase();
  const decoder = known(name);
  const { encoding = name } = decoder ?? {};
  const packaged = PACKAGED.get(encoding);
  if (packaged !== undefined) return (body) => iconv.decode(body, packaged);
  return encoding === 'windows-1252' ? decodeWindows1252 : decoder && ((body) => decoder.decode(body));
}

function known(name: string): TextDecoder | undefined {
  try {
    return new TextDecoder(name);
  } catch {
    return undefined;
  }
}

function markOf(body: Buffer): string | undefined {
  const start = body.toString('hex', 0, 4);
  if (start.startsWith('efbbbf')) return 'utf-8';
  if (start.startsWith('fffe') || /^(?!00)..00(?!00)..00$/.test(start)) return 'utf-16le';
  return start.startsWith('feff') || /^00(?!00)..00(?!00)..$/.test(start) ? 'utf-16be' : undefined;
}

/** A character that is cut off at the end is left out. */
function validUtf8(body: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
  } catch {
    return undefined;
  }
}

/** Encoding declared at the beginning of a document. The declaration is ASCII, so UTF-16 means UTF-8. */
function declaredIn(body: Buffer, contentType: string): string | undefined {
  const start = body.toString('latin1', 0, 4_096);
  const label =
    /^\s*<\?xml\b[^<>]{0,200}?\sencoding\s{0,8}=\s{0,8}["']([\w.:-]{1,40})["']/.exec(start)?.[1] ??
    /^@charset "([\w.:-]{1,40})";/.exec(start)?.[1] ??
    (isHtml(contentType) ? metaCharset(start) : undefined);
  return /^utf-?16/i.test(label ?? '') ? 'utf-8' : label;
}

/** The charset of the first `meta` element that has one. */
function metaCharset(start: string): string | undefined {
  const nodes: DefaultTreeAdapterTypes.Node[] = [parse(start)];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if ('attrs' in node && node.nodeName === 'meta') {
      const { charset, content, ...others } = Object.fromEntries(node.attrs.map(({ name, value }) => [name, value]));
      const isType = others['http-equiv']?.toLowerCase() === 'content-type';
      const label = charset ?? (isType ? /charset\s{0,8}=\s{0,8}["']?([\w.:-]{1,40})/i.exec(content ?? '')?.[1] : undefined);
      if (label !== undefined) return label.trim();
    }
    if ('childNodes' in node) nodes.push(...node.childNodes.toReversed());
  }
  return undefined;
}

function guessed(body: Buffer): string {
  const text = new TextDecoder().decode(body);
  return isAscii(body) || /[^\p{ASCII}\ufffd]/u.test(text) ? text : decodeWindows1252(body);
}

/** Bytes 0x80 to 0x9f of windows-1252, which is what the web means by latin1; some releases of Node decode them as control characters. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const UNITS = Uint16Array.from({ length: 256 }, (_, byte) => (WINDOWS_1252[byte - 0x80] ?? String.fromCharCode(byte)).charCodeAt(0));

/** In one pass: a hostile body has millions of such bytes. */
function decodeWindows1252(body: Buffer): string {
  const units = Buffer.alloc(2 * body.length);
  for (let at = 0; at < body.length; at += 1) {
    const unit = UNITS[body[at] ?? 0] ?? 0;
    // The low byte first, whatever the machine does.
    units[2 * at] = unit & 0xff;
    units[2 * at + 1] = unit >> 8;
  }
  return units.toString('utf16le');
}
