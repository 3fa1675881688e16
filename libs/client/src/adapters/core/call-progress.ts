import type { CallsApi } from '../../api/calls.api.js';
import { ToolyardError } from '../../toolyard-error.js';
import { textOf, type ToolProgress } from './tool-answer.js';

/** Most characters of a progress text. */
const PROGRESS_CHARS = 16_384;

/** Steps of a call before its end. Ends early if the stream fails: steps are no part of the answer. */
export async function* callProgress(
  calls: Pick<CallsApi, 'stream'>,
  callId: string,
  signal: AbortSignal,
): AsyncGenerator<ToolProgress, void, undefined> {
  let text = '';
  try {
    for await (const event of calls.stream(callId, { signal })) {
      if (event.type === 'call.approval_requested')
        yield { status: 'waiting_approval', callId, text: `A person is asked: ${event.data.reasons.join('; ')}` };
      if (event.type === 'call.approval_decided' && event.data.decision === 'allow') yield { status: 'queued', callId, text };
      // Clears the text: a repeated attempt prints from its beginning.
      if (event.type === 'call.start') text = '';
      if (event.type === 'call.update') text = (text + event.data.content.map((part) => textOf([part])).join('')).slice(-PROGRESS_CHARS);
      if (event.type === 'call.start' || event.type === 'call.update') yield { status: 'running', callId, text };
    }
  } catch (error) {
    if (!(error instanceof ToolyardError)) throw error;
  }
}
