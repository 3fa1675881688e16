import type { CommandContext } from '../../command-context.js';

/** Leaves a message for the result of the session's next batch. */
export async function steer({ client, terminal, json }: CommandContext, session: string, words: readonly string[]): Promise<number> {
  const steered = await client.sessions.steer(session, words.join(' '));
  if (json) terminal.json(steered);
  else
    terminal.note(
      `The message waits for the session's next batch (${steered.waiting} ${steered.waiting === 1 ? 'message waits' : 'messages wait'}).`,
    );
  return 0;
}
