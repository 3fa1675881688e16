const NO_NUMBERS: Readonly<Record<string, string>> = { NaN: '0.0', Infinity: '10000000' };
const PARTS = /"|NaN|Infinity/g;

/**
 * The text with numbers in place of `NaN` and `Infinity`, which Python writes and JSON has not. Each is as long as what it
 * replaces, so places in both texts are the same.
 */
export function strictJson(text: string): string {
  if (!/NaN|Infinity/.test(text)) return text;
  const pieces: string[] = [];
  let done = 0;
  PARTS.lastIndex = 0;
  for (let found = PARTS.exec(text); found !== null; found = PARTS.exec(text)) {
    const [word] = found;
    if (word === '"') {
      PARTS.lastIndex = endOfString(text, found.index);
      continue;
    }
    pieces.push(text.slice(done, found.index), NO_NUMBERS[word] ?? word);
    done = found.index + word.length;
  }
  return pieces.join('') + text.slice(done);
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
