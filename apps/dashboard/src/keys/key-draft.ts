import type { BodyInputOf, ROUTES, Scope } from '#contracts';

const DAY_MS = 86_400_000;

/** How long a new key works, in days. */
export const LIFETIMES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'One year' },
  { value: '', label: 'No end' },
] as const;

export const SCOPE_TEXTS: Readonly<Record<Scope, string>> = {
  submit: 'Make calls, batches and schedules',
  read: 'See calls, sessions and numbers',
  cancel: 'Stop calls and sessions',
  approve: 'Answer calls that wait for a person',
  admin: 'Change sessions, sources and keys; erase content',
  operate: 'See and drain workers, of all tenants',
  work: 'Announce tools and run their calls',
};

/** A key while it is filled in. */
export interface KeyDraft {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly agent: string;
  /** Names or globs, separated by commas or spaces. */
  readonly agents: string;
  readonly tools: string;
  readonly ratePerMinute: number | undefined;
  readonly days: string;
}

export const EMPTY_KEY: KeyDraft = {
  name: '',
  scopes: ['submit', 'read', 'cancel'],
  agent: '',
  agents: '',
  tools: '',
  ratePerMinute: undefined,
  days: '90',
};

/** Key in the form of the API. Empty fields are those of the creating key. */
export function keyBodyOf(draft: KeyDraft, now: number): BodyInputOf<typeof ROUTES.createKey> {
  const [agents, tools] = [wordsOf(draft.agents), wordsOf(draft.tools)];
  return {
    name: draft.name.trim(),
    scopes: [...draft.scopes],
    ...(draft.agent.trim() === '' ? {} : { agent: draft.agent.trim() }),
    ...(agents.length === 0 ? {} : { agents }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(draft.ratePerMinute === undefined ? {} : { ratePerMinute: draft.ratePerMinute }),
    ...(draft.days === '' ? {} : { expiresAt: new Date(now + Number(draft.days) * DAY_MS).toISOString() }),
  };
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}
