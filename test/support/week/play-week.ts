import type { ToolyardClient } from '#client';
import type { Batch } from '#contracts';
import type { WeekCall, WeekSession } from './week-sessions.js';

/** Sessions that go on at the same time. */
const AT_ONCE = 6;
const LOOK_MS = 500;

/**
 * Makes the calls of sessions through the interface, turn by turn as their agents would, and answers what asks a person. Resolves
 * when every call has ended but those without an answer.
 */
export async function playWeek(client: ToolyardClient, sessions: readonly WeekSession[]): Promise<void> {
  const left = [...sessions];
  const next = async (): Promise<void> => {
    for (let session = left.shift(); session !== undefined; session = left.shift()) await play(client, session);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

async function play(client: ToolyardClient, { sessionId, agentId, goal, turns, isCareful = false }: WeekSession): Promise<void> {
  if (isCareful) await client.sessions.put(sessionId, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
  for (const turn of turns) {
    const calls = turn.map(({ tool, arguments: args }) => ({ tool, arguments: { ...args }, labels: { goal } }));
    const { id } = await client.batches.submit({ sessionId, agentId, calls });
    const answered = new Set<string>();
    let batch = await client.batches.get(id, { waitMs: LOOK_MS });
    while (await goesOn(client, batch, turn, answered)) batch = await client.batches.get(id, { waitMs: LOOK_MS });
  }
}

/** Answers the questions of a batch. Whether there is more to wait for. */
async function goesOn(
  client: ToolyardClient,
  { status, results }: Batch,
  turn: readonly WeekCall[],
  answered: Set<string>,
): Promise<boolean> {
  if (status === 'ended') return false;
  const asking = results.filter((result) => result.status === 'waiting_approval');
  const open = asking.filter(({ index }) => turn[index]?.answer === undefined);
  for (const { callId, index } of asking) {
    const decision = turn[index]?.answer;
    if (callId === undefined || decision === undefined || answered.has(callId)) continue;
    answered.add(callId);
    await client.calls.decide(callId, { decision, scope: 'once' });
  }
  return open.length === 0 || results.some((result) => result.status === 'queued' || result.status === 'running');
}
