import { readFileSync } from 'node:fs';
import { readObject } from '../../call-arguments.js';
import type { CommandContext } from '../../command-context.js';
import { followCall } from '../../follow-call.js';

export interface DecideFlags {
  /** Scope of the decision for the rest of the session: this tool, or similar arguments. */
  readonly always?: 'tool' | 'args';
  readonly trust?: string;
  readonly reason?: string;
  readonly follow?: boolean;
  /** A JSON object, or `-` for stdin. */
  readonly arguments?: string;
}

/** Sends a person's decision. */
export async function decide(context: CommandContext, decision: 'allow' | 'deny', callId: string, flags: DecideFlags): Promise<number> {
  const { client, terminal, json } = context;
  const { always, trust, reason, follow, arguments: edited } = flags;
  const call = await client.calls.decide(callId, {
    decision,
    scope: always === undefined ? 'once' : `session-${always}`,
    trustOption: trust,
    reason,
    ...(edited === undefined ? {} : { arguments: readObject(edited, () => readFileSync(0, 'utf8')) }),
  });
  if (follow === true) return followCall(context, callId);
  if (json) terminal.json(call);
  else terminal.note(`${call.id} is ${decision === 'allow' ? `allowed and ${call.status}` : 'denied'}.`);
  return 0;
}
