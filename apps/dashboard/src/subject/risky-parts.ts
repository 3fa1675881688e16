import type { Call } from '#contracts';

/** A part of a command that a rule names in its answer. */
export interface RiskyPart {
  readonly from: number;
  readonly to: number;
  /** The rules that saw it, each with its words: `command-path: /etc is outside of the workspace`. */
  readonly seenBy: readonly string[];
}

/** Commands and reasons come from agents: this bounds the work. */
const MOST_CHARS = 20_000;
const MOST_PARTS = 100;

/** How a rule names words that destroy, also where it allows the command and another one asks. */
const HARMFUL: readonly RegExp[] = [
  /^'(.+)' (?:deletes|destroys|discards|removes|overrides|changes|gives|runs)\b/s,
  /(\S+) runs what it is sent/,
];

/** How reasons of rules name texts of the command. */
const NAMED: readonly RegExp[] = [
  ...HARMFUL,
  /'([^']+)' is not in shell allowlist/,
  /Command not in allowlist: (.+)$/s,
  /Command has an unsafe argument: (.+)$/s,
  /safety policy: contains '(.+)'\. This/s,
  /(?:^|: )(\S+) is (?:outside of|in the workspace, and)/,
  /Path blocked by security policy: (\S+)\. /,
  /Blocked: (\S+) is /,
  /blocked destination (\S+) /,
  /which program "(.+)" is/s,
  /it sets (\w+), which/,
  /has the argument (\S+), /,
  /\b[Cc]ommand requires approval: (.+)$/s,
];

/** Syntax as reasons name it, and as written outside of quotes. */
const SYNTAX: readonly (readonly [named: RegExp, written: RegExp])[] = [
  [/\bprocess substitution\b/, /[<>]\(/g],
  [/(?<!process )\bsubstitution\b/, /\$\((?!\()|`/g],
  [/(?:syntax:|without) pipe$/, /\|\|?&?/g],
  [/(?:syntax:|without) chain$/, /&&|\|\||;/g],
  [/(?:syntax:|without) background$/, /(?<!&)&(?![&>])/g],
  [/(?:syntax:|without) redirection$/, /\d?[<>]{1,2}(?!\()/g],
];

/** The parts of a command that destroy, or that rules which did not allow it name, in order; where two overlap, the longer one. */
export function riskyParts(command: string, { reasons }: Pick<Call['decision'], 'reasons'>): RiskyPart[] {
  if (command.length > MOST_CHARS) return [];
  const unquoted = withoutQuoted(command);
  const found = reasons
    .filter(({ axis }) => axis === 'risk')
    .flatMap(({ rule, reason, effect }) =>
      placesOf(command, unquoted, reason, effect !== 'allow').map(([from, to, words]) => ({ from, to, seen: `${rule}: ${words}` })),
    );
  const parts: RiskyPart[] = [];
  for (const { from, to, seen } of found.toSorted((a, b) => b.to - b.from - (a.to - a.from))) {
    const index = parts.findIndex((part) => from < part.to && part.from < to);
    const part = parts[index];
    if (part === undefined) parts.push({ from, to, seenBy: [seen] });
    else if (!part.seenBy.includes(seen)) parts[index] = { ...part, seenBy: [...part.seenBy, seen] };
  }
  return parts.toSorted((a, b) => a.from - b.from).slice(0, MOST_PARTS);
}

type Place = readonly [from: number, to: number, words: string];

function placesOf(command: string, unquoted: string, reason: string, isRefused: boolean): Place[] {
  const places: Place[] = [];
  for (const words of reason.split('; ')) {
    for (const pattern of isRefused ? NAMED : HARMFUL) {
      const named = pattern.exec(words)?.[1];
      for (const text of named?.split(', ') ?? [])
        places.push(...wordsLike(command, text).map((at): Place => [at, at + text.length, words]));
    }
    for (const [pattern, written] of isRefused ? SYNTAX : [])
      if (pattern.test(words))
        for (const { 0: text, index } of unquoted.matchAll(written)) places.push([index, index + text.length, words]);
  }
  return places;
}

const BOUNDARY = /[\s;&|()<>'"`=$]/;

/** Positions of the text as a separate word. */
function wordsLike(command: string, text: string): number[] {
  const places: number[] = [];
  for (let at = command.indexOf(text); at >= 0 && text !== '' && places.length < MOST_PARTS; at = command.indexOf(text, at + text.length)) {
    const [before, after] = [command[at - 1], command[at + text.length]];
    if ((before === undefined || BOUNDARY.test(before)) && (after === undefined || BOUNDARY.test(after))) places.push(at);
  }
  return places;
}

/** Command with spaces in place of single-quoted text and escaped characters. */
function withoutQuoted(command: string): string {
  return command.replaceAll(/'[^']*'|\\./gs, (quoted) => ' '.repeat(quoted.length));
}
