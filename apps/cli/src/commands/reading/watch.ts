import { changesCall, EventType, type CallEvent } from '#contracts';
import type { StreamState, WatchItem } from '#client';
import { actorText, errorText, plainReason } from '#subject';
import { callIdOf } from '../../call-ids.js';
import type { CommandContext } from '../../command-context.js';
import { callSubjects, type CallSubjects } from '../../terminal/call-subjects.js';
import { hookText } from '../../terminal/hook-text.js';
import { contentText } from '../../terminal/result-text.js';
import { oneLine } from '../../terminal/safe-text.js';
import { shownIds } from '../../terminal/shown-ids.js';
import { stoppedText } from '../../terminal/stopped-text.js';
import { clock, duration } from '../../terminal/time-text.js';
import { UsageError } from '../../usage-error.js';

export interface WatchFlags {
  readonly call?: string;
  readonly session?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly type?: readonly string[];
  readonly cursor?: string;
}

/** Shows events live until Ctrl-C. Reconnects by itself. */
export async function watch(context: CommandContext, flags: WatchFlags): Promise<number> {
  const { client, terminal, json, interrupts } = context;
  const { call, session, agent, tool, type, cursor } = flags;
  const filter = {
    ...(call === undefined ? {} : { callId: await callIdOf(context, call) }),
    ...(session === undefined ? {} : { sessionId: session }),
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(tool === undefined ? {} : { tool }),
    ...(type === undefined ? {} : { types: type.map(typeOf) }),
  };
  const subjects = await callSubjects(context);
  const of = [call && `call ${call}`, session && `session ${session}`, agent && `agent ${agent}`, tool && `tool ${tool}`].filter(Boolean);
  const waiting = `live: connected to ${context.config.url}, waiting for the next event${of.length === 0 ? '' : ` of ${of.join(', ')}`}`;
  const onState = (state: StreamState) => showState(context, state, waiting);
  for await (const item of client.watch(filter, { cursor, signal: interrupts.signal, onState })) {
    if (json && item.kind === 'event') terminal.json({ ...item.event, cursor: item.cursor });
    else if (json && item.kind === 'notice') terminal.json({ ...item.notice, cursor: item.cursor });
    else if (json) terminal.json(item);
    else for (const line of linesOf(item, context, subjects)) terminal.line(line);
  }
  return 0;
}

const WHO_CHARS = 16;

function showState({ terminal }: CommandContext, state: StreamState, waiting: string): void {
  if (state.state === 'live') terminal.note(`${waiting}; press Ctrl-C to end`, 'dim');
  if (state.state === 'reconnecting') terminal.note(`reconnecting in ${duration(state.inMs)}: ${state.error.message}`, 'yellow');
}

function typeOf(text: string): EventType {
  const parsed = EventType.safeParse(text.includes('.') ? text : `call.${text}`);
  if (parsed.success) return parsed.data;
  throw new UsageError(`--type: expected ${EventType.options.map(shortType).join(', ')}; got ${JSON.stringify(text)}`);
}

/** `start` for `call.start`; events of sessions and workers keep their full name. */
function shortType(type: EventType): string {
  return type.replace(/^call\./, '');
}

function linesOf(item: WatchItem, { terminal }: CommandContext, subjects: CallSubjects): string[] {
  const shown = shownIds(terminal);
  switch (item.kind) {
    case 'event': {
      const { event } = item;
      const id = shown(event.subject);
      const whoChars = terminal.width < 80 ? 0 : WHO_CHARS;
      const who = oneLine([event.agentid, event.sessionid].filter(Boolean).join('/'), whoChars);
      const names = `${id} ${event.tool.padEnd(12)} ${who.padEnd(terminal.isRead ? whoChars : 0)}`;
      const room = terminal.width - names.length - 11;
      const detail = oneLine(detailOf(event, subjects), Math.max(20, room));
      return [`${terminal.colour('dim', clock(event.time))} ${names} ${paint(event, detail, terminal)}`];
    }
    case 'notice': {
      const { time, subject, type, data } = item.notice;
      const text = `${type.replace(/^\w+\./, '')} ${JSON.stringify(data)}`;
      return [`${terminal.colour('dim', clock(time))} ${subject} ${oneLine(text, Math.max(20, terminal.width - subject.length - 11))}`];
    }
    case 'gap':
      return [terminal.colour('yellow', `(${item.gap.dropped} updates of ${item.gap.callId} were dropped: this reader was too slow)`)];
    case 'resync':
      return [terminal.colour('yellow', `(what follows does not continue what came before: ${oneLine(item.reason, 80)})`)];
    default:
      return item satisfies never;
  }
}

function detailOf(event: CallEvent, subjects: CallSubjects): string {
  switch (event.type) {
    case 'call.submitted':
      return `submitted ${subjects.line(event.tool, JSON.stringify(event.data.arguments ?? {}))}`;
    case 'call.approval_requested':
      return `asks a person: ${event.data.reasons.map(plainReason).join(' ')}`;
    case 'call.approval_decided':
      return `${event.data.decision === 'allow' ? 'allowed' : 'denied'} by ${actorText(event.actor, event.actorname)}${event.data.reason === undefined ? '' : `: ${event.data.reason}`}`;
    case 'call.start':
      return `start on ${event.data.worker}${event.attempt > 1 ? `, attempt ${event.attempt}` : ''}`;
    case 'call.update':
      return `| ${contentText(event.data.content)}`;
    case 'call.progress':
      return `progress ${[event.data.done, event.data.total].filter((part) => part !== undefined).join('/')} ${event.data.message ?? ''}`;
    case 'call.hook':
      return hookText(event.data);
    case 'call.turn': {
      const { turn, model, usage, toolCalls } = event.data;
      const asked = toolCalls.length === 0 ? 'answers' : `calls ${toolCalls.map(({ tool }) => tool).join(', ')}`;
      return `turn ${turn}: ${model} ${asked} (${usage.inputTokens} + ${usage.outputTokens} tokens)`;
    }
    case 'call.retry':
      return `retry in ${duration(event.data.delayMs)}: ${event.data.reason}`;
    case 'call.input_requested':
      return `asks for input${event.data.prompt === undefined ? '' : `: ${event.data.prompt}`}`;
    case 'call.input_given':
      return event.data.declined === true
        ? `was declined its input by ${actorText(event.actor, event.actorname)}`
        : `got its input from ${actorText(event.actor, event.actorname)}`;
    case 'call.cancel_requested':
      return `cancel requested${event.data.reason === undefined ? '' : `: ${event.data.reason}`}`;
    case 'call.end': {
      const { outcome, isError, note, runMs, error, stopped } = event.data;
      const state = outcome !== 'completed' || isError !== true ? outcome : note === undefined ? 'error' : `error (${note})`;
      const receipt = stopped === undefined ? '' : `, ${stoppedText(stopped)}`;
      return `${state}${runMs === undefined ? '' : ` after ${duration(runMs)}`}${error === undefined ? '' : ` (${errorText(error)})`}${receipt}`;
    }
    default:
      return event satisfies never;
  }
}

function paint(event: CallEvent, text: string, terminal: CommandContext['terminal']): string {
  if (event.type === 'call.end')
    return terminal.colour(event.data.outcome === 'completed' && event.data.isError !== true ? 'green' : 'red', text);
  if (event.type === 'call.approval_requested') return terminal.colour('magenta', text);
  if (!changesCall(event.type)) return terminal.colour('dim', text);
  return text;
}
