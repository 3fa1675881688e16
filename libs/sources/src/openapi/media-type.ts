/** The type without its parameters, in small letters. */
export const typeOnly = (mediaType: string): string => (mediaType.split(';')[0] ?? '').trim().toLowerCase();

/** JSON by its own name, by that of older servers, or as the syntax of a vendor's type. */
export const isJson = (type: string): boolean => /^(?:application|text)\/(?:x-)?json$/.test(type) || type.endsWith('+json');

/** JSON texts, each on a line or after a record separator. */
export const isJsonLines = (type: string): boolean => /^application\/(?:(?:x-)?(?:ndjson|jsonl|json-lines|jsonlines)|json-seq)$/.test(type);

export const isText = (type: string): boolean =>
  type.startsWith('text/') ||
  /[/+](?:xml|ya?ml|x-ya?ml|javascript|graphql|sql|x-www-form-urlencoded|toml)$/.test(type) ||
  isJsonLines(type);

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)"?/i;

/** The type of a text that is sent in UTF-8, whatever charset the document names. */
export const inUtf8 = (mediaType: string): string =>
  /^utf-?8$/i.test(CHARSET.exec(mediaType)?.[1] ?? 'utf-8') ? mediaType : mediaType.replace(CHARSET, '; charset=utf-8');

/** The text of bytes in the encoding that their media type names, UTF-8 where it names none that is known. */
export function decodeText(bytes: Uint8Array, mediaType: string | null): string {
  const label = CHARSET.exec(mediaType ?? '')?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
