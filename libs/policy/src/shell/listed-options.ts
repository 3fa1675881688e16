import { isOption, wordsOfOption, type OptionWords } from './option-words.js';
import type { SubCommand } from './sub-command.js';

/** Options with which a program only reads; any other may write or run something. */
interface ListedOptions extends OptionWords {
  /** Most operands besides options and their values: some reading programs write to an additional one. */
  readonly operands: number;
  /** True if words after the operands are not arguments of the program. */
  readonly endsThere?: true;
  /** Letters that take the next word when they stand alone. */
  readonly alone?: string;
  /** Allowed values of options, and allowed operands. */
  readonly values?: Readonly<Record<string, RegExp>>;
  readonly operand?: RegExp;
}

/** Settings of ssh that neither run nor load nor write anything. */
const SSH_SETTING =
  /^(?:(?:AddressFamily|BatchMode|CheckHostIP|Ciphers|ClearAllForwardings|Compression|ConnectionAttempts|ConnectTimeout|ExitOnForwardFailure|HostKeyAlgorithms|IdentitiesOnly|KbdInteractiveAuthentication|KexAlgorithms|LogLevel|MACs|NumberOfPasswordPrompts|PasswordAuthentication|Port|PreferredAuthentications|PubkeyAuthentication|RequestTTY|ServerAliveCountMax|ServerAliveInterval|TCPKeepAlive|User|VisualHostKey)[=\s]|(?:ControlMaster|ForwardAgent|ForwardX11|PermitLocalCommand|UpdateHostKeys)[=\s]\s*no$|StrictHostKeyChecking[=\s]\s*(?:yes|ask)$)/i;

/**
 * Single reading SQL statement, in printable ASCII. Excludes function calls, comments (which may hide a word), writes, locks,
 * and statements that run what they explain. `into` may directly follow a number. Client commands begin with a backslash, or a
 * line.
 */
const READING_SQL =
  /^\s*(?:select|show|describe|desc|explain)\b(?!.*(?:into|for\s+(?:update|share)|lock\s+in|\banaly[sz]e\b|\/\*))[\t -')-:<-[\]-~]*(?:;\s*)?$/is;

const MYSQL: ListedOptions = {
  flags: 'ABCEHNnqrstvVwX',
  attached: 'p',
  valued: 'hPuDe',
  long: 'batch silent raw table vertical html xml compress skip-column-names',
  longValued: 'host port user database',
  operands: 1,
  operand: /^[\w.-]+$/,
  values: { e: READING_SQL },
};

const LISTED: Readonly<Record<string, ListedOptions>> = {
  hostname: { flags: 'aAdfiIsy', long: 'alias all-fqdns all-ip-addresses domain fqdn long ip-address short yp nis', operands: 0 },
  mariadb: MYSQL,
  mysql: MYSQL,
  ssh: {
    // Excludes options that forward keys or open ports: A D J K L R W X Y.
    flags: '46aCfGgkNnqsTtVvxy',
    valued: 'BbceilmopQ',
    operands: 1,
    endsThere: true,
    values: { o: SSH_SETTING },
  },
  uniq: {
    flags: 'cdDiuz',
    valued: 'fsw',
    long: 'count repeated all-repeated unique ignore-case zero-terminated',
    longValued: 'skip-fields skip-chars check-chars',
    operands: 1,
  },
  xxd: { flags: 'abeEiprCuv', attached: 'cglos', alone: 'cglos', operands: 1 },
};

/** The first argument that a program with listed options is not known to only read by; undefined for all other programs. */
export function unlistedArgument(name: string, command: SubCommand): string | undefined {
  const listed = Object.hasOwn(LISTED, name) ? LISTED[name] : undefined;
  return listed === undefined ? undefined : firstUnlisted(listed, command);
}

export function hasListedOptions(name: string): boolean {
  return Object.hasOwn(LISTED, name);
}

function firstUnlisted(listed: ListedOptions, { words }: SubCommand): string | undefined {
  let operands = 0;
  let hasEnded = false;
  for (let at = 1; at < words.length; at++) {
    const { value = '', dynamic = false } = words[at] ?? {};
    if (!hasEnded && value === '--') {
      hasEnded = true;
    } else if (!hasEnded && isOption(value) && value !== '-') {
      const taken = isAlone(value, listed) ? 2 : wordsOfOption(value, listed);
      const next = words[at + 1];
      const hasDynamic = dynamic || (taken === 2 && next?.dynamic === true);
      if (taken === undefined || hasDynamic || !isValueListed(value, next?.value, listed)) return value;
      at += taken - 1;
    } else {
      operands++;
      if (operands > listed.operands) return listed.endsThere ? undefined : value;
      if (dynamic || listed.operand?.test(value) === false) return value;
    }
  }
  return undefined;
}

function isAlone(option: string, { alone = '' }: ListedOptions): boolean {
  return option.length === 2 && alone.includes(option.charAt(1));
}

/** Checks the value in a cluster of letters, of the first letter with a value. */
function isValueListed(option: string, next: string | undefined, { values = {}, valued = '' }: ListedOptions): boolean {
  if (option.startsWith('--')) return true;
  const at = option.split('').findIndex((letter) => valued.includes(letter));
  const fits = at === -1 ? undefined : values[option[at] ?? ''];
  return fits === undefined || fits.test(option.slice(at + 1) || (next ?? ''));
}
