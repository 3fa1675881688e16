import type { ToolyardClient } from '#client';
import type { Batch } from '#contracts';
import { WEEK_SCHEDULES, type WeekAnswer, type WeekCall, type WeekSchedule, type WeekSession } from './week-sessions.js';

/** Concurrent sessions. */
const AT_ONCE = 6;
const LOOK_MS = 500;
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

interface Play {
  readonly client: ToolyardClient;
  readonly signal?: AbortSignal;
  /** Receives the number of calls that were submitted since the last time. */
  readonly onCalls?: (count: number) => void;
}

/**
 * Makes the calls of sessions through the interface, turn by turn as their agents would, answers questions, and runs the
 * schedules. Resolves when every call with an answer has ended.
 */
export async function playWeek(play: Play, sessions: readonly WeekSession[]): Promise<void> {
  const left = [...sessions];
  const next = async (): Promise<void> => {
    for (let session = left.shift(); session !== undefined; session = left.shift()) await playSession(play, session);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  for (const schedule of WEEK_SCHEDULES) await playSchedule(play, schedule);
}

async function playSession(play: Play, session: WeekSession): Promise<void> {
  const { client, signal, onCalls } = play;
  const { sessionId, agentId, goal, turns, message, isCareful = false } = session;
  const careful = { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } } as const;
  if (isCareful) await client.sessions.put(sessionId, careful, { signal });
  if (message !== undefined) await client.sessions.steer(sessionId, message, { signal });
  const labels = { goal, day: DAYS[session.day] ?? '' };
  for (const turn of turns) {
    const calls = turn.map(({ tool, arguments: args }) => ({ tool, arguments: { ...args }, labels }));
    const { id } = await client.batches.submit({ sessionId, agentId, calls }, { signal });
    onCalls?.(calls.length);
    const answered = new Set<string>();
    const look = () => client.batches.get(id, { waitMs: LOOK_MS, signal });
    let batch = await look();
    while (await goesOn(play, batch, turn, answered)) batch = await look();
  }
}

/** Answers the questions of a batch. Whether there is more to wait for. */
async function goesOn(
  { client, signal }: Play,
  { status, results }: Batch,
  turn: readonly WeekCall[],
  answered: Set<string>,
): Promise<boolean> {
  if (status === 'ended') return false;
  const asking = results.filter((result) => result.status === 'waiting_approval');
  const open = asking.filter(({ index }) => turn[index]?.answer === undefined);
  for (const { callId, index } of asking) {
    const answer = turn[index]?.answer;
    if (callId === undefined || answer === undefined || answered.has(callId)) continue;
    answered.add(callId);
    await client.calls.decide(callId, decisionOf(answer), { signal });
  }
  return open.length === 0 || results.some((result) => result.status === 'queued' || result.status === 'running');
}

function decisionOf(answer: WeekAnswer) {
  if (answer === 'allow' || answer === 'deny') return { decision: answer, scope: 'once' } as const;
  return { decision: 'allow', scope: 'once', arguments: { ...answer } } as const;
}

/** Creates a schedule, runs it as often as in the week, and pauses it, so that the demo leaves nothing active. */
async function playSchedule({ client, signal, onCalls }: Play, schedule: WeekSchedule): Promise<void> {
  const { name, cron, agentId, sessionId, call, runs } = schedule;
  const scheduled = { tool: call.tool, arguments: { ...call.arguments }, agentId, sessionId };
  const { id } = await client.schedules.create({ name, cron, overlap: 'queue', call: scheduled }, { signal });
  for (let run = 0; run < runs; run++) {
    const { id: callId } = await client.schedules.run(id, { signal });
    onCalls?.(1);
    await client.calls.wait(callId, { signal });
  }
  await client.schedules.pause(id, { signal });
}
