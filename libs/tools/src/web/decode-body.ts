const TEXT_LIKE =
  /^(?:text\/|application\/(?:json|xml|javascript|ecmascript|x-ndjson|yaml|x-yaml|toml|graphql|sql|rtf|x-sh|x-www-form-urlencoded)\b|[^;]+\+(?:json|xml|yaml)\b|image\/svg\+xml)/i;

export function isTextLike(contentType: string): boolean {
  return TEXT_LIKE.test(contentType.trim());
}

export function isHtml(contentType: string): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType);
}

/** A type that says nothing: the bytes have to tell. */
export function isUntyped(contentType: string): boolean {
  return /^\s*(?:$|application\/octet-stream|unknown)/i.test(contentType);
}

/** No text has NUL bytes (UTF-16, which has, must be declared). */
export function looksBinary(body: Buffer): boolean {
  return body.subarray(0, 8_192).includes(0);
}

/** The body as text in the charset of its byte order mark, else of the header, else of the page's own declaration, else UTF-8. Wrong bytes become U+FFFD. */
export function decodeBody(body: Buffer, contentType: string): string {
  const declared = /charset\s{0,8}=\s{0,8}["']?([\w.:-]{1,40})/i;
  const inPage = isHtml(contentType) ? declared.exec(body.toString('latin1', 0, 2_048))?.[1] : undefined;
  const label = markOf(body) ?? declared.exec(contentType)?.[1] ?? inPage ?? 'utf-8';
  try {
    const decoder = new TextDecoder(label);
    return decoder.encoding === 'windows-1252' ? decodeWindows1252(body) : decoder.decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

function markOf(body: Buffer): string | undefined {
  const start = body.toString('hex', 0, 3);
  if (start === 'efbbbf') return 'utf-8';
  if (start.startsWith('fffe')) return 'utf-16le';
  return start.startsWith('feff') ? 'utf-16be' : undefined;
}

/** Bytes 0x80 to 0x9f of windows-1252, which is what the web means by latin1; some releases of Node decode them as control characters. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

function decodeWindows1252(body: Buffer): string {
  return body.toString('latin1').replaceAll(/[\u0080-\u009f]/g, (char) => WINDOWS_1252[char.charCodeAt(0) - 0x80] ?? char);
}
