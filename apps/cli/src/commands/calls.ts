import type { ArgumentChange, Call, CallFilterInput, CallSummary } from '#contracts';
import type { CommandContext } from '../command-context.js';
import { argumentLines } from '../terminal/argument-lines.js';
import { callSubjects, type CallSubjects } from '../terminal/call-subjects.js';
import { contentText } from '../terminal/result-text.js';
import { oneLine } from '../terminal/safe-text.js';
import { shownIds } from '../terminal/shown-ids.js';
import { table } from '../terminal/table.js';
import { ago, duration, parseSince } from '../terminal/time-text.js';

/** Which calls. */
export interface FilterFlags {
  readonly status?: string;
  readonly outcome?: string;
  readonly result?: string;
  readonly tool?: string;
  readonly session?: string;
  readonly agent?: string;
  readonly user?: string;
  readonly risk?: string;
  readonly schedule?: string;
  readonly pool?: string;
  readonly errorCode?: string;
  readonly since?: string;
  readonly until?: string;
  readonly search?: string;
}

export interface CallsFlags extends FilterFlags {
  readonly limit: number;
}

/** Calls, newest first. */
export async function calls(context: CommandContext, flags: CallsFlags): Promise<number> {
  const { client, terminal, json } = context;
  const found: CallSummary[] = [];
  for await (const call of client.calls.all({ ...filterOf(flags, Date.now()), limit: Math.min(200, flags.limit) })) {
    found.push(call);
    if (found.length >= flags.limit) break;
  }
  if (json) {
    for (const call of found) terminal.json(call);
    return 0;
  }
  if (found.length === 0) terminal.note('No calls match.');
  const subjects = await callSubjects(context);
  const rows = found.map((call) => [
    shownIds(terminal)(call.id),
    stateOf(call),
    call.tool,
    ...(flags.session === undefined ? [whoOf(call, terminal)] : []),
    call.runMs === undefined ? '' : duration(call.runMs),
    ago(Date.now() - Date.parse(call.submittedAt)),
    aboutOf(call, subjects),
  ]);
  for (const line of table(rows, terminal.width)) terminal.line(painted(line, terminal));
  return 0;
}

/** One call with its arguments and its result. */
export async function show(context: CommandContext, callId: string): Promise<number> {
  const { client, terminal, json } = context;
  const call = await client.calls.get(callId);
  if (json) {
    terminal.json(call);
    return 0;
  }
  const rows = factsOf(call).filter((row): row is [string, string] => row[1] !== undefined && row[1] !== '');
  for (const line of table(rows, terminal.width)) terminal.line(line);
  const subjects = await callSubjects(context);
  terminal.line();
  for (const line of argumentLines(call.arguments, subjects.of(call.tool), terminal, call.status === 'waiting_approval'))
    terminal.line(line);
  if (call.result === undefined) return 0;
  terminal.line();
  const text = contentText(call.result.content);
  terminal.data(text.endsWith('\n') ? text : `${text}\n`);
  return 0;
}

/** The complete output of an ended call, unchanged. */
export async function output({ client, terminal, json }: CommandContext, callId: string): Promise<number> {
  const text = new TextDecoder().decode(await client.calls.output(callId));
  if (json) terminal.json({ callId, output: text });
  else terminal.data(text);
  return 0;
}

export function filterOf(flags: FilterFlags, now: number): CallFilterInput {
  const { status, outcome, result, tool, session, agent, user, risk, schedule, pool, errorCode, since, until, search } = flags;
  return {
    status,
    outcome,
    result,
    tool,
    pool,
    errorCode,
    sessionId: session,
    agentId: agent,
    userId: user,
    risk,
    scheduleId: schedule,
    q: search,
    since: since === undefined ? undefined : parseSince(since, now),
    until: until === undefined ? undefined : parseSince(until, now),
  };
}

function factsOf(call: Call): [string, string | undefined][] {
  const { error, waiting, approval } = call;
  return [
    ['id', call.id],
    ['tool', call.tool],
    ['status', statusOf(call)],
    ['error', error && `${error.code}: ${oneLine(error.message, 500)}`],
    ['waiting', waiting && `${waiting.reason}: ${waiting.detail}`],
    ['question', approval?.decided === undefined ? approval?.reasons.join('; ') : undefined],
    ['edited', approval?.decided?.edited && `by ${approval.decided.by}: ${approval.decided.edited.changes.map(changeText).join('; ')}`],
    ['session', call.sessionId],
    ['agent', call.agentId],
    ['user', call.userId],
    ['risk', call.risk],
    ['schedule', call.scheduleId],
    [
      'labels',
      Object.entries(call.labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    ],
    ['submitted', call.submittedAt],
    ['started', call.startedAt],
    ['ended', call.endedAt],
    ['attempt', call.attempt > 1 ? String(call.attempt) : undefined],
  ];
}

function changeText({ pointer, before = 'nothing', after = 'nothing' }: ArgumentChange): string {
  return oneLine(`${pointer} ${before} → ${after}`, 300);
}

/** One word; `error` for a completed call whose result is one. */
export function stateOf({ outcome, isError, retrying, suspended, status }: CallSummary): string {
  if (outcome === 'completed' && isError === true) return 'error';
  return outcome ?? (retrying ? 'retrying' : suspended ? 'suspended' : status);
}

const WHO_CHARS = 16;

/** Session and agent, as far as there is room for them. */
function whoOf({ sessionId = '', agentId = '' }: CallSummary, terminal: CommandContext['terminal']): string {
  const both = [agentId, sessionId].filter((name) => name !== '').join('/');
  return oneLine(both, terminal.width < 120 ? WHO_CHARS : 2 * WHO_CHARS);
}

/** What the call does, and its error if it has one. */
export function aboutOf(call: CallSummary, subjects: CallSubjects): string {
  const { tool, preview, error, outcome, note } = call;
  const subject = oneLine(subjects.line(tool, preview), error === undefined ? 500 : 60);
  if (error !== undefined) return `${subject}  ✗ ${error.code}: ${error.message}`;
  return outcome === 'completed' && note !== undefined ? `(${note}) ${subject}` : subject;
}

function statusOf({ status, outcome, isError, note }: Call): string {
  if (outcome === undefined) return status;
  const about = outcome === 'completed' && isError === true ? ', with an error result' : '';
  return `${status}: ${outcome}${about}${note === undefined ? '' : ` (${oneLine(note, 80)})`}`;
}

/** Colours the status alone, which is the second word: the id before it has no blank. */
export function painted(line: string, terminal: CommandContext['terminal']): string {
  return line.replace(
    /^(\S+\s+)(completed|error|failed|timed_out|unknown|denied|cancelled|running)(?= )/,
    (_all, id: string, status: string) => {
      const style = status === 'completed' ? 'green' : status === 'running' ? 'cyan' : status === 'cancelled' ? 'yellow' : 'red';
      return id + terminal.colour(style, status);
    },
  );
}
