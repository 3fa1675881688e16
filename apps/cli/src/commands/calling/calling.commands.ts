import { Option, type Command } from 'commander';
import { Dialect, OnFailure } from '#contracts';
import { ARGUMENTS_HELP } from '../../call-arguments.js';
import { callIdOf, callIdsOf } from '../../call-ids.js';
import { filterFlags } from '../call-filter.js';
import { many, type Add, type Start } from '../command-registration.js';
import { batch, STRATEGIES, type BatchFlags } from './batch.js';
import { bulk, type BulkFlags } from './bulk.js';
import { call, replay, type CallFlags, type SubmitFlags } from './call.js';
import { cancel, cancelBatch, type CancelFlags } from './cancel.js';
import { erase, type EraseFlags } from './erase.js';
import { quote } from './quote.js';

/** Commands that submit, stop, repeat and erase calls. */
export function addCalling(add: Add, start: Start): void {
  submitFlags(add('call', 'submit a call, show it until its end, exit with its outcome'))
    .argument('<tool>', 'which tool')
    .argument('[arguments...]', 'name=value, name:=JSON, a JSON object, or -')
    .option('--idempotency-key <key>', 'the same key and arguments make one call')
    .option('--no-wait', 'print the id and do not wait')
    .addHelpText('after', ARGUMENTS_HELP)
    .action((tool: string, words: string[], flags: CallFlags) => start((context) => call(context, tool, words, flags)));
  submitFlags(add('quote', 'dry run: whether a call would run now, ask or be denied'))
    .argument('<tool>', 'which tool')
    .argument('[arguments...]', 'as for call')
    .action((tool: string, words: string[], flags: SubmitFlags) => start((context) => quote(context, tool, words, flags)));
  add('replay', 'run an ended call again, with other arguments if given')
    .argument('<call-id>')
    .argument('[arguments...]', 'as for call; all of them')
    .option('--no-wait', 'print the id and do not wait')
    .action((id: string, words: string[], flags: { wait: boolean }) =>
      start(async (context) => replay(context, await callIdOf(context, id), words, flags)),
    );
  add('cancel', 'stop calls, or everything in a session')
    .argument('[call-ids...]')
    .option('--session <id>', 'everything in this session')
    .option('--reason <text>', 'kept with the call')
    .option('--grace <duration>', 'how long a tool may take to stop by itself, such as 5s')
    .action((ids: string[], flags: CancelFlags) => start(async (context) => cancel(context, await callIdsOf(context, ids), flags)));
  addBatches(add, start);
  for (const [what, description] of [
    ['cancel', 'stop all calls that match the filters and have not ended'],
    ['replay', 'run all calls again that match the filters and have ended'],
  ] as const)
    filterFlags(add(`${what}-all`, `${description}; shows their number and asks`))
      .option('--dry-run', 'only show their number')
      .option('--yes', 'do not ask')
      .action((flags: BulkFlags) => start((context) => bulk(context, what, flags)));
  addErasing(add, start);
}

function addBatches(add: Add, start: Start): void {
  const batches = add('batch', 'calls of one model turn: submit them together, or stop them');
  batches
    .command('run', { isDefault: true })
    .description('submit calls, one JSON object a line, and show their results in order')
    .argument('<file>', 'such as calls.jsonl; - reads standard input')
    .option('--session <id>', 'the session that the calls belong to')
    .option('--agent <id>', 'the agent that they are for')
    .addOption(new Option('--strategy <strategy>', 'in which order they run').choices(STRATEGIES))
    .addOption(new Option('--on-failure <what>', 'what the failure of one means for the others').choices(OnFailure.options))
    .option('--idempotency-key <key>', 'the same key and calls make one batch')
    .option('--no-wait', 'print the id and do not wait')
    .action((file: string, flags: BatchFlags) => start((context) => batch(context, file, flags)));
  batches
    .command('cancel')
    .description('stop a batch and its calls')
    .argument('<batch-id>')
    .option('--reason <text>', 'kept with the calls')
    .option('--grace <duration>', 'how long a tool may take to stop by itself, such as 5s')
    .action((id: string, flags: CancelFlags) => start((context) => cancelBatch(context, id, flags)));
}

function addErasing(add: Add, start: Start): void {
  filterFlags(add('erase', 'erase the content of ended calls, by their ids or by filters (scope admin); cannot be undone'))
    .argument('[call-ids...]')
    .option('--reason <text>', 'kept in the record of erasures')
    .option('--dry-run', 'with filters: only show their number')
    .option('--yes', 'with filters: do not ask')
    .option('--no-wait', 'with ids: do not wait until all copies are deleted')
    .action((ids: string[], flags: EraseFlags) => start(async (context) => erase(context, await callIdsOf(context, ids), flags)));
}

function submitFlags(command: Command): Command {
  return command
    .option('--session <id>', 'the session that the call belongs to')
    .option('--agent <id>', 'the agent that it is for')
    .option('--user <id>', 'the person that it is for: whose memory it uses')
    .addOption(new Option('--dialect <name>', 'whose tool names and arguments these are').choices(Dialect.options))
    .addOption(new Option('--priority <priority>').choices(['high', 'normal', 'low']))
    .option('--timeout <duration>', 'how long it may run, such as 30s')
    .option('--label <name=value>', 'kept with the call; may be given again', many)
    .option('--tool-call-id <id>', "the model's own id of the call");
}
