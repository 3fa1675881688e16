import type { Approval } from '#contracts';

/** What a person may type at the question whether a call may run. */
export type Answer = 'allow' | 'always' | 'deny' | 'never' | 'edit' | 'skip' | 'quit';

const LETTERS: Readonly<Record<string, Answer>> = {
  a: 'allow',
  y: 'allow',
  A: 'always',
  d: 'deny',
  n: 'deny',
  N: 'never',
  e: 'edit',
  s: 'skip',
  l: 'skip',
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

/** A letter, of which the case counts, or a word. Undefined for anything else. */
export function answerOf(text: string): Answer | undefined {
  return (Object.hasOwn(LETTERS, text) ? LETTERS[text] : undefined) ?? wordOf(text.toLowerCase());
}

function wordOf(text: string): Answer | undefined {
  return Object.hasOwn(WORDS, text) ? WORDS[text] : undefined;
}

/** What "always" may mean for a call: to trust something, or its tool. */
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

/** Whether the tool may be denied for the rest of the session. */
export function mayNever({ options }: Approval): boolean {
  return options.some(({ id }) => id === 'reject_always_tool');
}
