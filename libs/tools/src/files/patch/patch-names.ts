/** Prefixes of git: `a/` and `b/`, or with `diff.mnemonicPrefix` those of the compared objects (index, work tree, commit, object). */
const PREFIXES = ['a/', 'b/', 'i/', 'w/', 'c/', 'o/'];
/** Behind a tab as tools write it; models also write it behind spaces. */
const TIMESTAMP = /\s+\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*$|\s+\((?:revision \d+|working copy|nonexistent)\)$/;
/** Endings of the copy that is compared with the file itself. */
const COPIES = ['.orig', '.bak', '.old', '~'];
/** Endings of the changed copy. */
const CHANGED = ['.new', '.fixed', '.patched', '.modified'];
const ESCAPES: Readonly<Record<string, string>> = { a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r', '"': '"', '\\': '\\' };

/** Name in a header line; the line may also state that the file does not exist. */
export interface HeaderName {
  readonly name: string;
  readonly isNone: boolean;
}

/** Behind `---` or `+++`. Timestamps of 1970 mean no file, as for GNU patch. */
export function headerName(text: string): HeaderName {
  const quoted = unquoted(text);
  const [given = '', ...behind] = quoted === undefined ? text.split('\t') : [quoted.name, quoted.rest];
  const name = quoted === undefined && behind.length === 0 ? given.replace(TIMESTAMP, '').trimEnd() : given;
  const about = behind.join('\t') || text.slice(name.length);
  if (/^[ab]\/dev\/null$/.test(name)) return { name: '/dev/null', isNone: true };
  return { name, isNone: name === '/dev/null' || /\(nonexistent\)/.test(about) || isEpoch(about) };
}

function isEpoch(text: string): boolean {
  const [date] = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [+-]\d{4}/.exec(text) ?? [];
  return date !== undefined && Date.parse(date.replace(/\.\d+/, '')) === 0;
}

/** Quoted name, with the rest of the line. Undefined for a plain one. Escaped bytes are UTF-8. */
function unquoted(text: string): { readonly name: string; readonly rest: string } | undefined {
  const [whole, inner] = /^"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  if (whole === undefined || inner === undefined) return undefined;
  const parts = inner.match(/\\[0-7]{1,3}|\\.|[^\\]+/g) ?? [];
  const bytes = parts.map((part) => {
    if (!part.startsWith('\\')) return Buffer.from(part);
    return /^\\[0-7]/.test(part) ? Buffer.from([Number.parseInt(part.slice(1), 8) & 255]) : Buffer.from(ESCAPES[part.slice(1)] ?? part);
  });
  return { name: Buffer.concat(bytes).toString('utf8'), rest: text.slice(whole.length) };
}

/** The name in a line such as `rename from`, which has no prefix. */
export function plainName(text: string): string {
  return unquoted(text)?.name ?? text;
}

/** The two names of `diff --git`; undefined where spaces in them leave it open. */
export function gitNames(text: string): readonly [string, string] | undefined {
  const first = unquoted(text);
  if (first !== undefined) {
    const second = first.rest.slice(1);
    return [first.name, plainName(second)];
  }
  const quoted = text.indexOf(' "');
  if (quoted > 0) return [text.slice(0, quoted), plainName(text.slice(quoted + 1))];
  const splits = [...text.matchAll(/ /g)].map(({ index }) => [text.slice(0, index), text.slice(index + 1)] as const);
  return splits.find(([old, now]) => old === now || bare(old) === bare(now)) ?? (splits.length === 1 ? splits[0] : undefined);
}

function bare(name: string): string {
  return PREFIXES.some((it) => name.startsWith(it)) ? name.slice(2) : name;
}

/**
 * The file that two names of a change mean, likeliest first: without the prefixes of git, or the folders that `diff -r`
 * compares. Empty where they mean two files.
 */
export function commonNames(before: string, after: string): readonly string[] {
  const [old, now] = [normalizePath(before), normalizePath(after)];
  if (old === now) return bare(now) === now ? [now] : [now, bare(now)];
  if (bare(old) === bare(now)) return [bare(now)];
  if (CHANGED.some((ending) => now === `${old}${ending}` || bare(now) === `${bare(old)}${ending}`)) return [bare(old)];
  const copy = COPIES.some((ending) => old === `${now}${ending}` || bare(old) === `${bare(now)}${ending}`);
  return copy ? [bare(now)] : [];
}

/** Both names without the prefixes of git, if they have them and differ. */
export function renamedNames(before: string, after: string): readonly [string, string] | undefined {
  const [old, now] = [normalizePath(before), normalizePath(after)];
  return old.startsWith('a/') && now.startsWith('b/') && bare(old) !== bare(now) ? [bare(old), bare(now)] : undefined;
}

/** Name below two compared folders: `old/x` and `new/x`, `../one/x` and `/tmp/two/x`. */
export function nameBelowFolders(before: string, after: string): string | undefined {
  const [old = [], now = []] = [before, after].map((it) => normalizePath(it).split('/'));
  const most = Math.min(old.length, now.length) - 1;
  let common = 0;
  while (common < most && old.at(-1 - common) === now.at(-1 - common)) common += 1;
  return common === 0 ? undefined : old.slice(-common).join('/');
}

/** Possible names of the file beside /dev/null. */
export function singleNames(name: string): readonly string[] {
  const plain = normalizePath(name);
  return bare(plain) === plain ? [plain] : [bare(plain), plain];
}

export function normalizePath(path: string): string {
  return path.replace(/^(?:\.\/+)+/, '');
}
