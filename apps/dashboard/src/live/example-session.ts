import type { ToolyardClient } from '#client';
import type { SubmitCallBody } from '#contracts';

type Step = Pick<SubmitCallBody, 'tool' | 'arguments'>;

/** Calls as a coding agent makes them: it writes a file, reads and tries it, fails, mends it and tries again. */
const STEPS: readonly Step[] = [
  {
    tool: 'file_write',
    arguments: { path: 'example/greet.sh', content: '#!/bin/sh\necho "Hello, $1"\nexit $MISSING\n' },
  },
  { tool: 'file_read', arguments: { path: 'example/greet.sh' } },
  { tool: 'shell', arguments: { command: 'sh example/greet.sh world && test -e example/done' } },
  {
    tool: 'file_edit',
    arguments: { path: 'example/greet.sh', old_text: 'exit $MISSING', new_text: 'touch example/done' },
  },
  {
    tool: 'shell',
    arguments: { command: 'for n in 1 2 3; do echo "try $n"; sleep 1; done\nsh example/greet.sh world && test -e example/done' },
  },
];

const CHILD = { tool: 'file_search', arguments: { pattern: 'Hello', path: 'example' } } as const;

/** A session of an example agent, made by the ordinary API. Resolves with its name once its first call is accepted; the others follow. */
export async function runExample(client: ToolyardClient, now = Date.now()): Promise<string> {
  const inSession = { sessionId: `example-${now.toString(36)}` };
  const [first, ...others] = STEPS.map((step) => ({ ...step, ...inSession }));
  if (first === undefined) return inSession.sessionId;
  const { id } = await client.calls.submit(first);
  // A step that is denied ends the session there.
  void follow(client, id, others, inSession).catch(() => undefined);
  return inSession.sessionId;
}

async function follow(
  client: ToolyardClient,
  firstId: string,
  steps: readonly Step[],
  inSession: { readonly sessionId: string },
): Promise<void> {
  let callId = firstId;
  for (const step of steps) {
    await client.calls.wait(callId);
    callId = (await client.calls.submit({ ...step, ...inSession })).id;
  }
  // Only a call that runs can have a child.
  for await (const item of client.watch({ callId, types: ['call.start', 'call.end'] })) {
    if (item.kind !== 'event') continue;
    if (item.event.type === 'call.start') await client.calls.submit({ ...CHILD, ...inSession, parentCallId: callId });
    break;
  }
}
