/** Options of a program. An unlisted option may have a value, so the role of the following word is unknown. */
export interface OptionWords {
  /** Letters whose value is the rest of their word, or the next word. */
  readonly valued?: string;
  /** Letters without a value. */
  readonly flags?: string;
  /** Letters whose value, if any, is the rest of their word. */
  readonly attached?: string;
  /** Names after `--` that take the next word when they have no `=`. */
  readonly longValued?: string;
  /** Names after `--` that do not. */
  readonly long?: string;
}

export function isOption(word: string): boolean {
  return word.startsWith('-');
}

/** Number of words of an option including its value; undefined if unknown. */
export function wordsOfOption(
  word: string,
  { valued = '', flags = '', attached = '', longValued = '', long = '' }: OptionWords,
): number | undefined {
  if (word.startsWith('--')) {
    const [name = '', value] = word.slice(2).split('=', 2);
    if (longValued.split(' ').includes(name)) return value === undefined ? 2 : 1;
    return long.split(' ').includes(name) ? 1 : undefined;
  }
  for (let at = 1; at < word.length; at++) {
    const letter = word[at] ?? '';
    if (valued.includes(letter)) return at === word.length - 1 ? 2 : 1;
    if (attached.includes(letter)) return 1;
    if (!flags.includes(letter)) return undefined;
  }
  return word === '-' ? undefined : 1;
}
