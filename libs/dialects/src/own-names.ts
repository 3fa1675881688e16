/** The name of a canonical tool in a dialect; undefined where it has none. */
export type OwnName = (tool: string) => string | undefined;

/**
 * A message with advice such as `Use file_list or glob to see it.` in the names of a dialect: tools that it does not have
 * are left out, and with the last of them the advice. Other words stay, as a path may be called like a tool; so do further
 * lines, which quote what others wrote. Pure.
 */
export function inOwnNames(message: string, isTool: (name: string) => boolean, ownName: OwnName): string {
  const [first = '', ...others] = message.split('\n');
  const kept = partsOf(first).flatMap((part) => {
    const [whole, before = '', names = ''] = ADVICE.exec(part) ?? [];
    const listed = names.split(' or ');
    if (whole === undefined || !listed.every(isTool)) return [part];
    const own = [...new Set(listed.flatMap((name) => ownName(name) ?? []))];
    return own.length === 0 ? [] : [part.replace(whole, before + own.join(' or '))];
  });
  return [kept.join('').replace(/[:;\s]+$/, ''), ...others].join('\n');
}

/** Advice to use a tool: any name at the beginning of a part, only names with `_` further on. */
const ADVICE = /(^use |\bwith (?=[a-z]+_))([a-z]+(?:_[a-z]+)*(?: or [a-z]+(?:_[a-z]+)*)*)(?![\w./-]*\w)/i;

/** Sentences, and what they advise behind a colon or a semicolon. */
function partsOf(line: string): string[] {
  return line.split(/(?<=[.] )(?=[A-Z])|(?<=[:;] )(?=use )/);
}
