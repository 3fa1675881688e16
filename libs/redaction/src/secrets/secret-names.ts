/** Endings of names of secrets, in lower case without separators. */
const ENDINGS = [
  'password',
  'passwd',
  'passphrase',
  'passcode',
  'pwd',
  'secret',
  'token',
  'authorization',
  'credential',
  'credentials',
  'cookie',
  'apikey',
  'secretkey',
  'accesskey',
  'privatekey',
  'signingkey',
  'encryptionkey',
  'masterkey',
  'sharedkey',
  'accountkey',
  'storagekey',
  'authkey',
  'licensekey',
  'sessionkey',
];

/** End like a secret and are none: places in lists, the working directory, things that are named after tokens. */
const HARMLESS =
  /(?:^|(?:next|prev|previous|page|pagination|continuation|continue|cursor|sync|resume|cancel|cancellation|start|end|max|min|per|eos|bos|pad|unk|sep|mask|first|last)(?:page)?)token$|^(?:old)?pwd$/;

/** Whole headers are secret from the colon to the end of the line. */
const HEADERS = new Set(['authorization', 'proxyauthorization', 'cookie', 'setcookie']);

/** End of a name that `plain` does not change. */
const ENDS_PLAIN = /[a-z0-9]{3}$/i;

const CACHE_SIZE = 4_096;

/** Recognises secrets by name: keys of objects, names before `=` and `:`, flags, headers. */
export class SecretNames {
  private readonly endings: readonly string[];
  private readonly lastThree: ReadonlySet<number>;
  private readonly lastLetters = new Uint8Array(128);
  private readonly known = new Map<string, boolean>();

  /** `more` are endings, too; how they are written does not matter. */
  constructor(more: readonly string[] = [], off = false) {
    this.endings = off ? [] : [...ENDINGS, ...more.map(plain).filter((name) => name.length >= 3)];
    this.lastThree = new Set(this.endings.map((name) => threeOf(name, name.length)));
    for (const letter of [...this.endings.map((name) => name.slice(-1)), 's']) {
      for (const written of [letter, letter.toUpperCase()]) this.lastLetters[written.charCodeAt(0)] = 1;
    }
  }

  /** A name of a secret never ends with another character. */
  mayEndWith(code: number): boolean {
    return this.lastLetters[code] === 1;
  }

  /** True if a name that ends before `end` may be one of a secret, by its last three letters. */
  mayEnd(text: string, end: number): boolean {
    return this.mayEndWith(text.charCodeAt(end - 1)) && (this.lastThree.has(threeOf(text, end)) || isPass(text, end));
  }

  has(name: string): boolean {
    // Nearly all names end with three letters or digits that no secret ends with: a caller may send very many.
    if (ENDS_PLAIN.test(name) && !this.mayEnd(name, name.length)) return false;
    const before = this.known.get(name);
    if (before !== undefined) return before;
    const answer = this.evaluate(name);
    if (this.known.size < CACHE_SIZE) this.known.set(name, answer);
    return answer;
  }

  isHeader(name: string): boolean {
    return HEADERS.has(plain(name));
  }

  private evaluate(name: string): boolean {
    if (this.endings.length === 0) return false;
    if (/(?:^|[_.-])pass$/i.test(name) && name.length > 4) return true;
    const written = plain(name);
    if (HARMLESS.test(written) && written !== 'token') return false;
    return this.endings.some((ending) => written.endsWith(ending));
  }
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

function threeOf(text: string, end: number): number {
  return ((text.charCodeAt(end - 3) | 32) << 16) | ((text.charCodeAt(end - 2) | 32) << 8) | (text.charCodeAt(end - 1) | 32);
}

/** `DB_PASS`, `smtp-pass`. */
function isPass(text: string, end: number): boolean {
  return threeOf(text, end) === ASS && (text.charCodeAt(end - 4) | 32) === 112 && end > 4;
}

const ASS = threeOf('ass', 3);
