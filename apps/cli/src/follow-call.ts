import type { Call, CallEvent, CallEventOf } from '#contracts';
import { ToolyardError, type StreamState } from '#client';
import { plainReason } from '#subject';
import { decideAtTerminal } from './approvals/decide-at-terminal.js';
import { questionLines } from './approvals/question.js';
import type { CommandContext } from './command-context.js';
import { exitCodeOf } from './exit-code.js';
import { hasPerson } from './terminal/ask.js';
import { callSubjects } from './terminal/call-subjects.js';
import { changeLines } from './terminal/change-lines.js';
import { hookText } from './terminal/hook-text.js';
import { oneLine } from './terminal/safe-text.js';
import { contentText, omittedContent } from './terminal/result-text.js';
import { Spinner } from './terminal/spinner.js';
import { stoppedText } from './terminal/stopped-text.js';
import { duration } from './terminal/time-text.js';
import { visible } from './terminal/visible-text.js';

/**
 * Shows a call until its end: live output, reason of a wait, file changes, outcome. The first Ctrl-C cancels the call and waits
 * for its end; the second exits.
 */
export async function followCall(context: CommandContext, callId: string): Promise<number> {
  const { client, terminal, json, interrupts } = context;
  const view = new CallView(context, callId);
  const cancel = () => {
    terminal.note(`Cancelling ${callId} … (press Ctrl-C again to exit)`);
    client.calls
      .cancel(callId, { reason: 'Ctrl-C' })
      .catch((error: unknown) => terminal.note(`It could not be cancelled: ${messageOf(error)}`));
  };
  interrupts.handle(cancel, () => terminal.note(`Stopped watching. The call may still be stopping or running: toolyard show ${callId}`));
  let fault: ToolyardError | undefined;
  try {
    for await (const event of client.calls.stream(callId, { onState: (state) => view.connection(state) })) view.event(event);
  } catch (error) {
    if (!(error instanceof ToolyardError) || error.code !== 'stream_incomplete') throw error;
    fault = error;
  } finally {
    view.close();
  }
  const call = await client.calls.wait(callId);
  if (json) terminal.json(call);
  else view.end(call);
  if (fault !== undefined) terminal.note(fault.message);
  return exitCodeOf(call);
}

class CallView {
  private readonly spinner: Spinner;
  private shown = '';
  private detached = '';
  private stage = 'queued';
  private receipt: string | undefined;
  /** Withdraws the question to the person at this terminal. */
  private asking: AbortController | undefined;

  constructor(
    private readonly context: CommandContext,
    private readonly callId: string,
  ) {
    this.spinner = new Spinner(context.terminal, () => `${this.stage}${this.detached}`);
  }

  connection(state: StreamState): void {
    this.detached = state.state === 'reconnecting' ? ` · reconnecting: ${state.error.message}` : '';
  }

  event(event: CallEvent): void {
    const { terminal, json } = this.context;
    switch (event.type) {
      case 'call.update':
        if (json) return;
        this.say(contentText(event.data.content));
        return;
      case 'call.progress':
        this.stage = `running · ${progressText(event.data)}`;
        return;
      case 'call.hook':
        if (event.data.phase === 'started') this.stage = hookText(event.data);
        return;
      case 'call.approval_requested':
        this.stage = 'waiting for a person';
        this.question(event);
        return;
      case 'call.approval_decided':
        this.stage = 'queued';
        this.asking?.abort();
        return;
      case 'call.start':
        this.stage = `running${event.attempt > 1 ? `, attempt ${event.attempt}` : ''}`;
        return;
      case 'call.retry':
        this.stage = event.data.reason === 'suspended' ? 'suspended, without a worker' : `waiting for a retry (${event.data.reason})`;
        return;
      case 'call.input_requested':
        this.stage = 'waiting for input';
        terminal.note(`${event.data.prompt ?? 'The tool asks for input.'} Answer: toolyard input ${event.subject} <value>`);
        return;
      case 'call.cancel_requested':
        this.stage = 'stopping';
        return;
      case 'call.end':
        this.asking?.abort();
        this.receipt = event.data.stopped && stoppedText(event.data.stopped);
        return;
      default:
        return;
    }
  }

  close(): void {
    this.asking?.abort();
    this.spinner.stop();
  }

  end(call: Call): void {
    const { terminal } = this.context;
    if (call.result !== undefined) this.say(omittedContent(call.result, this.shown));
    if (this.shown !== '' && !this.shown.endsWith('\n')) terminal.line();
    for (const line of changeLines(call, terminal)) terminal.line(line);
    if (call.result?.truncated) terminal.note(`The output was truncated. All of it: toolyard output ${call.id}`);
    if (call.outcome === 'completed' && call.isError === true)
      terminal.note(`the tool reports an error${call.note === undefined ? '' : `: ${oneLine(call.note, 200)}`}`, 'red');
    if (call.outcome !== 'completed') terminal.note(failureText(call, this.shown), 'red');
    if (this.receipt !== undefined) terminal.note(this.receipt);
  }

  private say(text: string): void {
    if (text === '') return;
    this.shown += text;
    this.context.terminal.data(text);
  }

  /** Asks the person at this terminal, who made the call, if the key may answer; else prints where to answer. */
  private question({ data }: CallEventOf<'call.approval_requested'>): void {
    const { terminal, json } = this.context;
    const reasons = data.reasons.map((reason) => `  ${oneLine(visible(plainReason(reason), true), 200)}`).join('\n');
    const elsewhere = () =>
      terminal.note(
        `Waits for a person, at most ${duration(data.expiresInMs)}:\n${reasons}\nAnswer with: toolyard approve ${this.callId}   or: toolyard deny ${this.callId}`,
      );
    if (json || !terminal.live || !hasPerson()) return elsewhere();
    const asking = new AbortController();
    this.asking = asking;
    this.spinner.pause(true);
    this.askPerson(asking.signal, elsewhere)
      .catch((error: unknown) => terminal.note(`The question could not be asked: ${messageOf(error)}`))
      .finally(() => this.spinner.pause(false));
  }

  private async askPerson(signal: AbortSignal, elsewhere: () => void): Promise<void> {
    const { client, terminal } = this.context;
    const [{ scopes }, call, subjects] = await Promise.all([
      client.gateway.whoAmI(),
      client.calls.get(this.callId),
      callSubjects(this.context),
    ]);
    if (call.status !== 'waiting_approval') return;
    if (!scopes.includes('approve')) {
      elsewhere();
      return terminal.note('This key may not answer itself: it has not the scope approve.');
    }
    for (const line of questionLines(call, subjects, this.context)) terminal.noteLine(line);
    const answer = await decideAtTerminal(this.context, call, subjects, { style: 'call', signal });
    if (answer !== 'decided' && !signal.aborted && !this.context.interrupts.happened) elsewhere();
  }
}

function progressText({ message, done, total }: CallEventOf<'call.progress'>['data']): string {
  const count = done === undefined ? '' : total === undefined ? String(done) : `${done}/${total}`;
  return [count, message].filter((part) => part !== undefined && part !== '').join(' ');
}

/** `failed (tool_failed) after 1.2s: …`. A message that the output contains is left out. */
function failureText({ outcome, error, startedAt, endedAt }: Call, shown: string): string {
  const took = startedAt === undefined || endedAt === undefined ? '' : ` after ${duration(Date.parse(endedAt) - Date.parse(startedAt))}`;
  const message = error === undefined || shown.includes(error.message.trim()) ? '' : `: ${error.message}`;
  const code = error === undefined || error.code === outcome ? '' : ` (${error.code})`;
  return `${outcome ?? 'not ended'}${code}${took}${message}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
