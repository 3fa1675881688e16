import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { CALL_EVENT_TYPES, CallOutcome, CallStatus, Pool, ResultKind } from '#contracts';
import { ToolyardClient } from '#client';
import { readCliConfig } from './cli.config.js';

const DEADLINE_MS = 700;

/** Provides the completions for one option or argument. */
type Offer = (complete: (value: string, description: string) => void) => void;

/**
 * Adds `toolyard complete bash|zsh|fish`, which prints a completion script, and `complete --`, which the script calls. Tool
 * names come from the gateway; without a response within 700 ms there are none.
 */
export async function addCompletion(program: Command, argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const asked = argv[0] === 'complete' && argv[1] === '--';
  const names = asked ? await toolNames(env) : [];
  const completion = tab(program);
  const tools: Offer = (complete) => names.forEach(({ name, label }) => complete(name, label));
  const fixed =
    (values: readonly string[]): Offer =>
    (complete) =>
      values.forEach((value) => complete(value, ''));

  for (const name of ['call', 'quote', 'tools'])
    for (const argument of completion.commands.get(name)?.arguments.values() ?? []) argument.handler ??= tools;
  const filters = {
    tool: tools,
    status: fixed(CallStatus.options),
    outcome: fixed(CallOutcome.options),
    result: fixed(ResultKind.options),
    pool: fixed(Pool.options),
  };
  const options: Record<string, Record<string, Offer>> = {
    watch: { tool: tools, type: fixed(CALL_EVENT_TYPES.map((type) => type.slice('call.'.length))) },
    calls: filters,
    'cancel-all': filters,
    'replay-all': filters,
  };
  for (const [command, offers] of Object.entries(options))
    for (const [name, offer] of Object.entries(offers)) {
      const option = completion.commands.get(command)?.options.get(name);
      if (option) option.handler = offer;
    }
}

async function toolNames(env: NodeJS.ProcessEnv): Promise<{ name: string; label: string }[]> {
  try {
    const { url, apiKey } = readCliConfig({}, env);
    return await new ToolyardClient({ baseUrl: url, apiKey, retries: 0 }).tools.list({}, { timeoutMs: DEADLINE_MS });
  } catch {
    return [];
  }
}
