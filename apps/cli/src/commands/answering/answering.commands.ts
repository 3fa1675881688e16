import { Option } from 'commander';
import { ApprovalSort } from '#contracts';
import { callIdOf } from '../../call-ids.js';
import { count, type Add, type Start } from '../command-registration.js';
import { approvals, type ApprovalsFlags } from './approvals.js';
import { decide, type DecideFlags } from './decide.js';
import { input, type InputFlags } from './input.js';
import { steer } from './steer.js';

/** Commands by which a person answers calls and agents. */
export function addAnswering(add: Add, start: Start): void {
  add('approvals', 'calls that wait for a person; asks about each on a terminal, lists them in a pipe')
    .option('--session <id>', 'of this session')
    .option('--risk <risk>', 'low, medium, high; several with commas')
    .addOption(new Option('--sort <order>', 'the newest first (default), or the highest risk first').choices(ApprovalSort.options))
    .option('--limit <count>', 'maximum number of calls', count, 1000)
    .option('--list', 'only list them')
    .action((flags: ApprovalsFlags) => start((context) => approvals(context, flags)));
  for (const [name, decision] of [
    ['approve', 'allow'],
    ['deny', 'deny'],
  ] as const) {
    const command = add(name, `${decision} a call that waits for a person`)
      .argument('<call-id>')
      .addOption(
        new Option('--always <what>', 'also later calls of the session: of this tool, or with arguments like these').choices([
          'tool',
          'args',
        ]),
      )
      .option('--trust <option>', 'which of the trust options, with --always args')
      .option('--reason <text>', 'kept with the decision')
      .option('--follow', 'show the call until its end')
      .action((id: string, flags: DecideFlags) => start(async (context) => decide(context, decision, await callIdOf(context, id), flags)));
    if (decision === 'allow') command.option('--arguments <json>', 'run it with these arguments instead; - reads them from stdin');
  }
  add('input', 'give a call the value that its tool has asked for; without a value: show the question')
    .argument('<call-id>')
    .argument('[value]', 'JSON, or a text; - reads it from stdin')
    .option('--decline', 'give none, where the tool goes on without')
    .option('--follow', 'show the call until its end')
    .action((id: string, value: string | undefined, flags: InputFlags) =>
      start(async (context) => input(context, await callIdOf(context, id), value, flags)),
    );
  add('steer', "leave a message for the session's agent; it comes with its next batch")
    .argument('<session>')
    .argument('<message...>')
    .action((session: string, words: string[]) => start((context) => steer(context, session, words)));
}
