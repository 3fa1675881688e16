import { readFileSync } from 'node:fs';
import { readObject } from '../call-arguments.js';
import type { CommandContext } from '../command-context.js';
import { followCall } from '../follow-call.js';
import { oneLine } from '../terminal/safe-text.js';
import { table } from '../terminal/table.js';
import { duration } from '../terminal/time-text.js';

export interface DecideFlags {
  /** For this tool, or for similar arguments, in the session from now on. */
  readonly always?: 'tool' | 'args';
  readonly trust?: string;
  readonly reason?: string;
  readonly follow?: boolean;
  /** A JSON object, or `-` for stdin. */
  readonly arguments?: string;
}

/** Calls that wait for a person. */
export async function approvals({ client, terminal, json }: CommandContext): Promise<number> {
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await client.approvals.list(cursor === undefined ? {} : { cursor });
    cursor = page.nextCursor;
    if (first && page.calls.length === 0 && !json) terminal.note('No calls wait for a person.');
    for (const call of page.calls) {
      if (json) {
        terminal.json(call);
        continue;
      }
      const { approval } = call;
      const left = approval === undefined ? '' : `${duration(Math.max(0, Date.parse(approval.expiresAt) - Date.now()))} left`;
      for (const line of table([[call.id, call.tool, left, JSON.stringify(call.arguments)]], terminal.width)) terminal.line(line);
      for (const reason of approval?.reasons ?? []) terminal.line(`    ${oneLine(reason, terminal.width - 4)}`);
      for (const { id, label } of approval?.trustOptions ?? [])
        terminal.line(terminal.colour('dim', `    --always args --trust ${oneLine(id, 40)}: ${oneLine(label, terminal.width - 30)}`));
    }
  }
  return 0;
}

/** Sends a person's decision. */
export async function decide(context: CommandContext, decision: 'allow' | 'deny', callId: string, flags: DecideFlags): Promise<number> {
  const { client, terminal, json } = context;
  const { always, trust, reason, follow, arguments: edited } = flags;
  const call = await client.calls.decide(callId, {
    decision,
    scope: always === undefined ? 'once' : `session-${always}`,
    ...(trust === undefined ? {} : { trustOption: trust }),
    ...(reason === undefined ? {} : { reason }),
    ...(edited === undefined ? {} : { arguments: readObject(edited, () => readFileSync(0, 'utf8')) }),
  });
  if (follow === true) return followCall(context, callId);
  if (json) terminal.json(call);
  else terminal.note(`${call.id} is ${decision === 'allow' ? `allowed and ${call.status}` : 'denied'}.`);
  return 0;
}
