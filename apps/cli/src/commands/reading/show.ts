import type { ArgumentChange, Call } from '#contracts';
import { errorText, plainReasons } from '#subject';
import type { CommandContext } from '../../command-context.js';
import { argumentLines } from '../../terminal/argument-lines.js';
import { callSubjects } from '../../terminal/call-subjects.js';
import { changeLines } from '../../terminal/change-lines.js';
import { contentText } from '../../terminal/result-text.js';
import { oneLine } from '../../terminal/safe-text.js';
import { table } from '../../terminal/table.js';

/** Prints a call with its arguments, its result and its changes in files. */
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
  for (const line of changeLines(call, terminal)) terminal.line(line);
  return 0;
}

/** The steps of a call as the processes took them. */
export async function debugLog({ client, terminal, json }: CommandContext, callId: string): Promise<number> {
  const log = await client.calls.debugLog(callId);
  if (json) {
    terminal.json(log);
    return 0;
  }
  const rows = log.entries.map(({ afterMs, step, attempt, text, tookMs, by }) => [
    `+${afterMs} ms`,
    attempt === undefined ? step : `${step} ${attempt}`,
    tookMs === undefined ? '' : `${tookMs} ms`,
    oneLine(text, 500),
    by,
  ]);
  for (const line of table([['after', 'step', 'took', 'what', 'by'], ...rows], terminal.width)) terminal.line(line);
  if (log.traceparent !== undefined) terminal.line(`trace ${log.traceparent.split('-')[1] ?? ''}`);
  return 0;
}

/** The complete output of an ended call, unchanged. */
export async function output({ client, terminal, json }: CommandContext, callId: string): Promise<number> {
  const text = new TextDecoder().decode(await client.calls.output(callId));
  if (json) terminal.json({ callId, output: text });
  else terminal.data(text);
  return 0;
}

function factsOf(call: Call): [string, string | undefined][] {
  const { error, waiting, approval } = call;
  return [
    ['id', call.id],
    ['tool', call.tool],
    ['status', statusOf(call)],
    ['error', error && oneLine(errorText(error), 500)],
    ['waiting', waiting && `${waiting.reason}: ${waiting.detail}`],
    ...questionRows(call),
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

/** Reasons why a person is asked, one per row. */
function questionRows(call: Call): [string, string][] {
  if (call.approval === undefined || call.approval.decided !== undefined) return [];
  return plainReasons(call).map((reason, index) => [index === 0 ? 'question' : '', oneLine(reason, 500)]);
}

/** Maximum length of a note. */
const NOTE_CHARS = 200;

function statusOf({ status, outcome, isError, note }: Call): string {
  if (outcome === undefined) return status;
  const about = outcome === 'completed' && isError === true ? ', with an error result' : '';
  return `${status}: ${outcome}${about}${note === undefined ? '' : ` (${oneLine(note, NOTE_CHARS)})`}`;
}

function changeText({ pointer, before = 'nothing', after = 'nothing' }: ArgumentChange): string {
  return oneLine(`${pointer} ${before} → ${after}`, 300);
}
