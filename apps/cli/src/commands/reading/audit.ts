import type { AdminEvent, AdminType, QueryInputOf, ROUTES } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { oneLine } from '../../terminal/safe-text.js';
import { listing } from '../../terminal/table.js';
import { momentText, parseSince } from '../../terminal/time-text.js';
import { visible } from '../../terminal/visible-text.js';

export interface AuditFlags {
  readonly type?: AdminType[];
  readonly by?: string;
  readonly target?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

const MOST = 200;
const VALUE_CHARS = 60;

/** Administrative acts, newest first; with --json the events as the log has them. */
export async function audit({ client, terminal, json }: CommandContext, { limit, ...flags }: AuditFlags): Promise<number> {
  const query = queryOf(flags, Date.now());
  const acts: AdminEvent[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await client.audit.list({
      ...query,
      limit: Math.min(MOST, limit - acts.length),
      ...(cursor === undefined ? {} : { cursor }),
    });
    acts.push(...page.acts);
    cursor = page.nextCursor;
    if (page.behind !== undefined) terminal.note(`The list lacks the newest acts: it is ${page.behind.events} events behind the log.`);
    if (cursor === undefined || acts.length >= limit) break;
  }
  if (json) for (const act of acts) terminal.json(act);
  else if (acts.length === 0) terminal.note('No administrative acts fit.');
  else {
    const timeOf = (time: string) => (terminal.isRead ? `${momentText(time, 19)}Z` : time);
    for (const line of listing(
      acts.map((act) => [timeOf(act.time), ...row(act)]),
      terminal.width,
    ))
      terminal.line(line);
  }
  return 0;
}

function queryOf({ type, by, target, since, until }: Omit<AuditFlags, 'limit'>, now: number): QueryInputOf<typeof ROUTES.listActs> {
  return {
    ...(type === undefined ? {} : { type: type.map(fullType) }),
    ...(by === undefined ? {} : { keyId: by }),
    ...(target === undefined ? {} : { target }),
    ...(since === undefined ? {} : { since: parseSince(since, now) }),
    ...(until === undefined ? {} : { until: parseSince(until, now) }),
  };
}

/** `key_created` for short. The gateway lists the known types. */
function fullType(text: string): AdminType {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gateway refuses any other
  return (text.startsWith('admin.') ? text : `admin.${text}`) as AdminType;
}

function row({ type, actor, data: { target, people = [], after, reason } }: AdminEvent): string[] {
  const who = people.filter((person) => person !== actor);
  return [
    type.replace(/^admin\./, ''),
    oneLine(visible(target), VALUE_CHARS),
    `by ${actor.replace(/^apikey:/, '')}${who.length === 0 ? '' : ` (${oneLine(visible(who.join(', ')), VALUE_CHARS)})`}`,
    reason === undefined
      ? after === undefined
        ? ''
        : oneLine(visible(JSON.stringify(after)), VALUE_CHARS)
      : oneLine(visible(reason), VALUE_CHARS),
  ];
}
