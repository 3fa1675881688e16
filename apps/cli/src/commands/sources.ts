import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { SourceDefinition, validationFaults, type McpBundle, type Source, type SourceSummary } from '#contracts';
import type { CommandContext } from '../command-context.js';
import { safeText } from '../terminal/safe-text.js';
import { table } from '../terminal/table.js';
import { UsageError } from '../usage-error.js';
import { many, type Add, type Start } from './command-registration.js';

export function addSources(add: Add, start: Start): void {
  const sources = add('sources', 'tool sources: MCP servers, folders of tools (scope admin)');
  sources
    .command('list')
    .description('sources with their health; with a name, its tools and what changed')
    .argument('[name]')
    .action((name: string | undefined) => start((context) => listSources(context, name)));
  sources
    .command('add')
    .description('add an MCP server by --server, --bundle or, after --, by its command; or any source as JSON')
    .argument('<name-or-json>')
    .argument('[command...]')
    .option('--server <url>', 'address of the MCP server; --url is that of the gateway')
    .option('--header <name=value>', 'sent with each request; name=$VARIABLE is a secret of the workers', many)
    .option('--issuer <url>', 'issuer of OAuth tokens for --server')
    .option('--token-url <url>', 'token endpoint, for an issuer without metadata')
    .option('--client <id=$VARIABLE>', 'OAuth client and its secret, a variable of the workers')
    .option('--authorize', 'a person authorizes the server, with `sources authorize`; --issuer and --scope may say more')
    .option('--scope <scope>', 'OAuth scope to ask for; may be given again', many)
    .option('--bundle <file>', 'an MCP bundle (.mcpb), which is uploaded')
    .option('--set <name=value>', 'a setting of the bundle, again for a list; name=$VARIABLE is a secret of the workers', many)
    .option('--include <glob>', 'only these tools; may be given again', many)
    .option('--exclude <glob>', 'not these tools; may be given again', many)
    .action((name: string, command: string[], flags: AddSourceFlags) => start((context) => addSource(context, [name, ...command], flags)));
  sources
    .command('remove')
    .description('remove a source that was added by `sources add`')
    .argument('<name>')
    .action((name: string) => start((context) => removeSource(context, name)));
  sources
    .command('authorize')
    .description('let an MCP source have OAuth tokens: prints where a person goes; with <back>, finishes')
    .argument('<name>')
    .argument('[back]', 'the address at which the browser came back, where the dashboard has another key')
    .action((name: string, back: string | undefined) => start((context) => authorizeSource(context, name, back)));
  sources
    .command('revoke')
    .description('remove the OAuth tokens of a source that a person authorized')
    .argument('<name>')
    .action((name: string) => start((context) => revokeSource(context, name)));
  sources
    .command('accept')
    .description('accept changed tools; shows what it accepts')
    .argument('<name>')
    .argument('[tools...]', 'only these')
    .action((name: string, tools: string[]) => start((context) => acceptSource(context, name, tools)));
}

const KEPT = 300;

/** Sources with their health; with a name, its tools and what waits for a person. */
async function listSources({ client, terminal, json }: CommandContext, name: string | undefined): Promise<number> {
  if (name !== undefined) {
    const source = await client.sources.get(name);
    if (json) terminal.json(source);
    else describe(source, terminal);
    return 0;
  }
  const sources = await client.sources.list();
  if (json) for (const source of sources) terminal.json(source);
  else for (const line of table(sources.map(row), terminal.width)) terminal.line(line);
  return 0;
}

interface AddSourceFlags {
  readonly server?: string;
  readonly header?: readonly string[];
  readonly issuer?: string;
  readonly tokenUrl?: string;
  readonly client?: string;
  readonly authorize?: true;
  readonly scope?: readonly string[];
  readonly bundle?: string;
  readonly set?: readonly string[];
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/** Adds an MCP server by its address or bundle, or any source as JSON; the words after `--` are the command of a stdio server. */
async function addSource({ client, terminal, json }: CommandContext, words: readonly string[], flags: AddSourceFlags): Promise<number> {
  const bundle = await uploaded(client, flags);
  const source = await client.sources.add(definitionOf(words, flags, bundle));
  if (json) terminal.json(source);
  else terminal.note(`The source ${source.name} was added; \`toolyard sources list ${source.name}\` shows its tools.`);
  return 0;
}

/** Uploads the file of `--bundle`; undefined without it. */
async function uploaded(client: CommandContext['client'], { bundle, set = [] }: AddSourceFlags): Promise<McpBundle | undefined> {
  if (bundle === undefined) {
    if (set.length > 0) throw new UsageError('--set is for a source with --bundle');
    return undefined;
  }
  const bytes = await readFile(bundle).catch((error: unknown) => {
    throw new UsageError(`The bundle cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  const { sha256 } = await client.sources.uploadBundle(new File([bytes], basename(bundle)));
  return { sha256, ...(set.length === 0 ? {} : { config: configOf(set) }) };
}

/** Settings of a bundle: one that is given again is a list. */
function configOf(pairs: readonly string[]): NonNullable<McpBundle['config']> {
  const config: NonNullable<McpBundle['config']> = {};
  for (const [name, value] of pairs.map((pair) => valueOf('--set', pair))) {
    const before = config[name];
    if (before === undefined) config[name] = value;
    else if (typeof value === 'string' && (typeof before === 'string' || Array.isArray(before))) config[name] = [before, value].flat();
    else throw new UsageError(`--set ${name}: a secret is no part of a list`);
  }
  return config;
}

async function removeSource({ client, terminal }: CommandContext, name: string): Promise<number> {
  await client.sources.remove(name);
  terminal.note(`The source ${name} was removed.`);
  return 0;
}

/** Prints the address for the person; with `back`, the address of the return, finishes. */
async function authorizeSource({ client, terminal, json }: CommandContext, name: string, back: string | undefined): Promise<number> {
  if (back !== undefined) {
    const source = await client.sources.finishAuthorization(back);
    terminal.note(`The source ${source.name} was authorized.`);
    return 0;
  }
  const begun = await client.sources.authorize(name);
  if (json) terminal.json(begun);
  else {
    terminal.line(begun.url);
    terminal.note(
      'Open this address in a browser. The dashboard finishes it with the same key; else pass the address that it comes back to.',
    );
  }
  return 0;
}

async function revokeSource({ client, terminal }: CommandContext, name: string): Promise<number> {
  const { atIssuer } = await client.sources.revokeAuthorization(name);
  terminal.note(`The tokens of ${name} were removed${atIssuer ? '' : '; the issuer did not say that it ended them'}.`);
  return 0;
}

/** Accepts exactly the changes that it shows. */
async function acceptSource({ client, terminal, json }: CommandContext, name: string, only: readonly string[]): Promise<number> {
  const before = await client.sources.get(name);
  const pending = before.list.filter((tool) => tool.pending && (only.length === 0 || only.includes(tool.name)));
  const missing = only.filter((tool) => !pending.some((it) => it.name === tool));
  if (missing.length > 0) throw new UsageError(`No change of ${missing.join(', ')} waits in the source ${name}`);
  if (!json) for (const tool of pending) showChanges(tool, terminal);
  const source = await client.sources.accept(name, { tools: pending.map(({ rawName, digest }) => ({ rawName, digest })) });
  if (json) terminal.json(source);
  else terminal.note(`${pending.length} ${pending.length === 1 ? 'change was' : 'changes were'} accepted; ${source.pending} wait.`);
  return 0;
}

function definitionOf(words: readonly string[], flags: AddSourceFlags, bundle: McpBundle | undefined): SourceDefinition {
  const { server: url, header = [], include, exclude } = flags;
  const [first = '', ...command] = words;
  const given: unknown = first.trim().startsWith('{')
    ? parseJson(first)
    : {
        name: first,
        kind: 'mcp',
        url,
        bundle,
        ...(command.length === 0 ? {} : { command }),
        ...(header.length === 0 ? {} : { headers: Object.fromEntries(header.map((pair) => valueOf('--header', pair))) }),
        ...authOf(flags),
        ...(include === undefined ? {} : { include }),
        ...(exclude === undefined ? {} : { exclude }),
      };
  const parsed = SourceDefinition.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new UsageError(validationFaults(parsed.error, 'source').join('; '));
}

/** OAuth by a person with `--authorize`, by client credentials with `--client`; empty without them. */
function authOf({ issuer, tokenUrl, client, scope, authorize }: AddSourceFlags): object {
  if (authorize) {
    if (client !== undefined || tokenUrl !== undefined)
      throw new UsageError(
        '--client and --token-url are for client credentials: --authorize registers a client, or takes that of a source as JSON',
      );
    const optional = Object.entries({ issuer, scopes: scope }).filter(([, value]) => value !== undefined);
    return { auth: { type: 'authorizationCode', ...Object.fromEntries(optional) } };
  }
  if (client === undefined) {
    if ([issuer, tokenUrl, scope].some((it) => it !== undefined))
      throw new UsageError('--issuer, --token-url and --scope are for a source with --client or --authorize');
    return {};
  }
  const [clientId, clientSecret] = valueOf('--client', client);
  const optional = Object.entries({ issuer, tokenUrl, scopes: scope }).filter(([, value]) => value !== undefined);
  return { auth: { type: 'clientCredentials', clientId, clientSecret, ...Object.fromEntries(optional) } };
}

/** `name=text`, or `name=$VARIABLE` for a secret of the workers' environment. */
function valueOf(flag: string, text: string): [string, string | { secretEnv: string }] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`Expected ${flag} name=value or name=$VARIABLE, got ${JSON.stringify(text)}`);
  const value = text.slice(at + 1);
  return [text.slice(0, at), value.startsWith('$') ? { secretEnv: value.slice(1) } : value];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`The source is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function row({ name, kind, status, tools, pending, tenantId, authorization, error = '' }: SourceSummary): string[] {
  const state = authorization?.state === 'needed' ? `${status}, needs authorization` : status;
  const waiting = pending === 0 ? '' : `${pending} changed`;
  return [name, kind, state, `${tools} ${tools === 1 ? 'tool' : 'tools'}`, waiting, tenantId === '*' ? 'all tenants' : '', safeText(error)];
}

function describe(source: Source, terminal: CommandContext['terminal']): void {
  for (const line of table([row(source)], terminal.width)) terminal.line(line);
  for (const tool of source.list) if (!tool.pending) terminal.line(`  ${tool.name}`);
  for (const tool of source.list) if (tool.pending) showChanges(tool, terminal);
  for (const problem of source.problems) terminal.line(`  left out: ${safeText(problem)}`);
}

function showChanges({ name, changes }: Source['list'][number], terminal: CommandContext['terminal']): void {
  terminal.line(`  ${name} changed:`);
  for (const { field, before, after } of changes) {
    terminal.line(`    - ${field}: ${safeText(before).slice(0, KEPT)}`);
    terminal.line(`    + ${field}: ${safeText(after).slice(0, KEPT)}`);
  }
}
