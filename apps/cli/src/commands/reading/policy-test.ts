import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { POLICY_PARTS, type BodyInputOf, type PolicyTestResult, type ROUTES, type Verdict } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { EXIT } from '../../exit-code.js';
import { oneLine } from '../../terminal/safe-text.js';
import { shownIds } from '../../terminal/shown-ids.js';
import { visible } from '../../terminal/visible-text.js';
import { UsageError } from '../../usage-error.js';
import { filterOf, type FilterFlags } from '../call-filter.js';

export interface PolicyTestFlags extends FilterFlags {
  readonly limit: number;
  readonly failOnChange?: boolean;
}

const PREVIEW_CHARS = 60;
const REASON_CHARS = 200;

/** Lists recorded calls with another decision under a changed config file. Sends only the file's policy, never its keys. */
export async function testPolicy(
  context: CommandContext,
  path: string,
  { limit, failOnChange, ...flags }: PolicyTestFlags,
): Promise<number> {
  const { client, terminal, json } = context;
  const result = await client.policy.test({ config: partsOf(path), filter: filterOf(flags, Date.now()), limit });
  if (json) terminal.json(result);
  else show(context, result);
  return failOnChange === true && result.changed.length > 0 ? EXIT.denied : EXIT.completed;
}

function show({ terminal }: CommandContext, { tested, changed, skipped }: PolicyTestResult): void {
  const idOf = shownIds(terminal);
  for (const { callId, tool, preview, before, after } of changed) {
    terminal.line(`${idOf(callId)}  ${before.effect} -> ${after.effect}  ${tool}  ${oneLine(visible(preview), PREVIEW_CHARS)}`);
    for (const line of rulesOf(after.effect === 'allow' ? before : after, after.effect === 'allow')) terminal.line(line);
  }
  terminal.note(`${tested} calls evaluated, ${changed.length} verdicts would change.`);
  for (const { callId, reason } of skipped) terminal.note(`Not evaluated: ${idOf(callId)}: ${oneLine(visible(reason), REASON_CHARS)}`);
}

function rulesOf({ reasons }: Verdict, isGone: boolean): string[] {
  return reasons.map(({ axis, rule, reason }) => {
    const text = `${axis}/${oneLine(rule, PREVIEW_CHARS)}: ${oneLine(visible(reason), REASON_CHARS)}`;
    return isGone ? `    no more: ${text}` : `    ${text}`;
  });
}

/** @throws UsageError for a file that cannot be read */
function partsOf(path: string): BodyInputOf<typeof ROUTES.testPolicy>['config'] {
  let file: unknown;
  try {
    file = parse(readFileSync(path, 'utf8')) ?? {};
  } catch (error) {
    throw new UsageError(`Expected a config file in YAML or JSON at ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof file !== 'object' || file === null || Array.isArray(file)) throw new UsageError(`Expected an object in ${path}`);
  const parts = new Map(Object.entries(file));
  const tenants: unknown = parts.get('tenants');
  const evaluated =
    typeof tenants === 'object' && tenants !== null ? Object.entries(tenants).map(([name, its]) => [name, evaluatedPartOf(its)]) : [];
  parts.set('tenants', Object.fromEntries(evaluated));
  return Object.fromEntries(POLICY_PARTS.flatMap((name) => (parts.has(name) ? [[name, parts.get(name)]] : [])));
}

/** Tenant without fields that may contain secrets, such as webhooks. */
function evaluatedPartOf(tenant: unknown): object {
  if (typeof tenant !== 'object' || tenant === null) return {};
  return Object.fromEntries(Object.entries(tenant).filter(([name]) => ['policy', 'posture', 'agents'].includes(name)));
}
