import type { ApiKey, IssuedKey, Scope } from '#contracts';
import type { CommandContext } from '../command-context.js';
import { oneLine } from '../terminal/safe-text.js';
import { table } from '../terminal/table.js';
import { parseDuration } from '../terminal/time-text.js';
import { many, type Add, type Start } from './command-registration.js';

interface CreateKeyFlags {
  readonly scope?: Scope[];
  readonly tool?: string[];
  readonly agent?: string;
  readonly agents?: string[];
  readonly user?: string;
  readonly users?: string[];
  readonly rate?: number;
  readonly expires?: string;
}

export function addKeys(add: Add, start: Start): void {
  const keys = add('keys', 'the API keys of the tenant (scope admin)');
  keys
    .command('list')
    .description('keys, what they may do and when they were used last')
    .action(() => start(list));
  keys
    .command('create')
    .description('make a key that may do no more than your own; prints its text this once')
    .argument('<name>', 'for people: what it is for')
    .option('--scope <scope>', 'submit, read, cancel, approve, admin, operate or work; may be given again (default: the first three)', many)
    .option('--tool <pattern>', 'only these tools; may be given again', many)
    .option('--agent <id>', 'the agent of its calls')
    .option('--agents <glob>', 'agents that its calls may name; may be given again', many)
    .option('--user <id>', 'the user of its calls')
    .option('--users <glob>', 'users that its calls may name; may be given again', many)
    .option('--rate <n>', 'requests a minute', Number)
    .option('--expires <when>', 'a duration such as 90d or 12h, or a time in RFC 3339')
    .action((name: string, flags: CreateKeyFlags) => start((context) => create(context, name, flags)));
  keys
    .command('rotate')
    .description('give a key a new text; prints it this once')
    .argument('<key-id>')
    .option('--overlap <duration>', 'how long the text before keeps working, such as 1h; 0s ends it at once', '1d')
    .action((id: string, { overlap }: { overlap: string }) => start((context) => rotate(context, id, overlap)));
  keys
    .command('revoke')
    .description('end a key at once')
    .argument('<key-id>')
    .action((id: string) => start((context) => revoke(context, id)));
}

async function list({ client, terminal, json }: CommandContext): Promise<number> {
  const keys = await client.keys.list();
  if (json) for (const key of keys) terminal.json(key);
  else for (const line of table(keys.map(row), terminal.width)) terminal.line(line);
  return 0;
}

async function create(context: CommandContext, name: string, flags: CreateKeyFlags): Promise<number> {
  const { scope, tool, agent, agents, user, users, rate, expires } = flags;
  const key = await context.client.keys.create({
    name,
    scopes: scope,
    tools: tool,
    agent,
    agents,
    user,
    users,
    ratePerMinute: rate,
    ...(expires === undefined ? {} : { expiresAt: timeOf(expires) }),
  });
  return issued(context, key);
}

async function rotate(context: CommandContext, id: string, overlap: string): Promise<number> {
  const key = await context.client.keys.rotate(id, { overlapMs: parseDuration(overlap) });
  if (key.overlapUntil !== undefined) context.terminal.note(`The text before works until ${key.overlapUntil}.`);
  return issued(context, key);
}

async function revoke({ client, terminal }: CommandContext, id: string): Promise<number> {
  await client.keys.revoke(id);
  terminal.note(`The key ${id} was revoked.`);
  return 0;
}

/** The text alone on standard output, for scripts. */
function issued({ terminal, json }: CommandContext, issuedKey: IssuedKey): number {
  if (json) terminal.json(issuedKey);
  else {
    terminal.line(issuedKey.key);
    terminal.note(`This is the key ${issuedKey.id}. Its text cannot be shown again.`);
  }
  return 0;
}

function row({ id, name, origin, status, scopes, agent, createdBy, createdByName, expiresAt, lastUsedAt }: ApiKey): string[] {
  return [
    id,
    name === undefined ? '(config file)' : oneLine(name, 40),
    status,
    scopes.join(','),
    agent ?? '',
    lastUsedAt === undefined ? 'never used' : `used ${lastUsedAt}`,
    expiresAt === undefined ? '' : `until ${expiresAt}`,
    origin === 'config' ? '' : `by ${oneLine(createdByName ?? String(createdBy), 60)}`,
  ];
}

function timeOf(text: string): string {
  return /^\d{4}-/.test(text) ? text : new Date(Date.now() + parseDuration(text)).toISOString();
}
