import { Option, type Command } from 'commander';
import { CallSort, EXPORT_TYPES } from '#contracts';
import { callIdOf } from '../../call-ids.js';
import { filterFlags } from '../call-filter.js';
import { count, many, type Add, type Start } from '../command-registration.js';
import { audit, type AuditFlags } from './audit.js';
import { calls, type CallsFlags } from './calls.js';
import { exportCalls, type ExportFlags } from './export.js';
import { failures, stats, type PeriodFlags } from './numbers.js';
import type { PolicyTestFlags } from './policy-test.js';
import { session, type SessionFlags } from './session.js';
import { debugLog, output, show } from './show.js';
import { usage, type UsageFlags } from './usage.js';
import { watch, type WatchFlags } from './watch.js';

/** Commands that list: events, calls, sessions, numbers, administrative acts. */
export function addLists(add: Add, start: Start): void {
  add('watch', 'show events live until Ctrl-C')
    .option('--call <id>', 'of one call')
    .option('--session <id>', 'of one session')
    .option('--agent <id>', 'of one agent')
    .option('--tool <name>', 'of one tool')
    .option('--type <type>', 'only these events, such as start or end; may be given again', many)
    .option('--cursor <cursor>', 'continue after this cursor, as --json prints it')
    .action((flags: WatchFlags) => start((context) => watch(context, flags)));
  filterFlags(add('calls', 'list calls, newest first or by risk'))
    .addOption(new Option('--sort <order>', 'the newest first (default), or the highest risk first').choices(CallSort.options))
    .option('--limit <count>', 'maximum number of calls', count, 20)
    .action((flags: CallsFlags) => start((context) => calls(context, flags)));
  listFlags(add('session', 'sessions that had calls; with a name: its calls as a tree, oldest first'), 50)
    .argument('[name]')
    .action((name: string | undefined, flags: SessionFlags) => start((context) => session(context, name, flags)));
  listFlags(add('stats', 'what runs and waits now, and numbers by tool of the last 24 hours'), 50)
    .option('--until <when>', 'end of the period')
    .action((flags: PeriodFlags) => start((context) => stats(context, flags)));
  listFlags(add('failures', 'failures of the last 24 hours, alike ones together'), 20)
    .option('--until <when>', 'end of the period')
    .action((flags: PeriodFlags) => start((context) => failures(context, flags)));
  add('usage', 'what agents or tools of the tenant, or all tenants (scope operate), used, by hour or day')
    .option('--since <when>', '15m, 2h, 3d, or a time; default: 24 hours')
    .option('--until <when>', 'end of the period')
    .addOption(new Option('--per <step>', 'what a line is about').choices(['hour', 'day']).default('hour'))
    .addOption(new Option('--by <whose>', 'whose calls a line is about').choices(['agent', 'tool', 'tenant']).default('agent'))
    .option('--agent <id>', 'of these agents')
    .option('--tool <name>', 'of these tools')
    .option('--csv', 'comma-separated values with a head')
    .action((flags: UsageFlags) => start((context) => usage(context, flags)));
  filterFlags(
    add('policy', 'what policy would say')
      .command('test')
      .description('which recorded calls a changed config file would evaluate otherwise; nothing runs (scope admin)')
      .argument('<config-file>'),
  )
    .option('--limit <count>', 'the newest calls that fit', count, 100)
    .option('--fail-on-change', 'exit with 3 when a verdict would change')
    .action((path: string, flags: PolicyTestFlags) =>
      start(async (context) => (await import('./policy-test.js')).testPolicy(context, path, flags)),
    );
  listFlags(add('audit', 'who changed keys, sessions, grants, sources, schedules or the config, newest first (scope admin)'), 50)
    .option('--type <type>', 'only these acts, such as key_created; may be given again', many)
    .option('--by <key-id>', 'with this key')
    .option('--target <id>', 'what was changed: a key, session, source, schedule, delivery or call')
    .option('--until <when>', 'done until')
    .action((flags: AuditFlags) => start((context) => audit(context, flags)));
}

/** Commands that show calls completely. */
export function addDetails(add: Add, start: Start): void {
  filterFlags(add('export', 'all events of the calls that match, also those that have left Redis; restart it when it fails'))
    .addOption(new Option('--format <format>', 'an event a line, or a row').choices(Object.keys(EXPORT_TYPES)).default('jsonl'))
    .option('--acts', 'also administrative acts, after the calls (scope admin)')
    .option('-o, --output <file>', 'to this file, which has its name when it is complete; default: standard output')
    .action((flags: ExportFlags) => start((context) => exportCalls(context, flags)));
  add('show', 'one call, with its result')
    .argument('<call-id>')
    .option('--debug', 'its steps instead: stages, rules, hooks, attempts, process (scope admin)')
    .action((id: string, { debug }: { debug?: true }) =>
      start(async (context) => (debug === true ? debugLog : show)(context, await callIdOf(context, id))),
    );
  add('output', 'the complete output of an ended call')
    .argument('<call-id>')
    .action((id: string) => start(async (context) => output(context, await callIdOf(context, id))));
}

function listFlags(command: Command, limit: number): Command {
  return command.option('--since <when>', '15m, 2h, 3d, or a time').option('--limit <count>', 'maximum number of lines', count, limit);
}
