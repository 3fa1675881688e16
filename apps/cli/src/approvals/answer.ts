import type { Approval } from '#contracts';

/** Answers that a person may type at an approval request. */
export type Answer = 'allow' | 'always' | 'deny' | 'never' | 'edit' | 'skip' | 'quit';

const LETTERS: Readonly<Record<string, Answer>> = {
  y: 'allow',
  a: 'always',
  n: 'deny',
  d: 'deny',
  v: 'never',
  e: 'edit',
  l: 'skip',
  s: 'skip',
  q: 'quit',
};
const WORDS: Readonly<Record<string, Answer>> = {
  allow: 'allow',
  yes: 'allow',
  always: 'always',
  deny: 'deny',
  no: 'deny',
  never: 'never',
  edit: 'edit',
  skip: 'skip',
  later: 'skip',
  quit: 'quit',
};

/** A letter or a word, in either case: Caps Lock must not turn an answer for one call into a rule. Undefined for anything else. */
export function answerOf(text: string): Answer | undefined {
  const typed = text.toLowerCase();
  if (Object.hasOwn(LETTERS, typed)) return LETTERS[typed];
  return Object.hasOwn(WORDS, typed) ? WORDS[typed] : undefined;
}

/** Meaning of "always" for a call: trust in an option of the approval, or in its tool. */
export interface AlwaysChoice {
  readonly label: string;
  readonly body: { readonly scope: 'session-args'; readonly trustOption: string } | { readonly scope: 'session-tool' };
}

export function alwaysChoices(tool: string, { trustOptions, options }: Approval): AlwaysChoice[] {
  const trust = trustOptions.map(({ id, label, display }): AlwaysChoice => ({
    label: `${label}: ${display}`,
    body: { scope: 'session-args', trustOption: id },
  }));
  const anyCall = options.some(({ id }) => id === 'allow_always_tool');
  return anyCall ? [...trust, { label: `Every call of ${tool}`, body: { scope: 'session-tool' } }] : trust;
}

/** True if the tool may be denied for the rest of the session. */
export function mayNever({ options }: Approval): boolean {
  return options.some(({ id }) => id === 'reject_always_tool');
}
