import type { ToolOutputObject } from '#tool-sdk';
import { textOutput } from '../../text-output.js';
import { Hover, parseAnswer } from '../server-answers.js';
import { type PlaceRequest, type ServerRun, atPlace, requireCapability } from './place-request.js';

const SHOWN_CHARACTERS = 20_000;

/** Type and documentation of the symbol at a place. */
export async function hoverAt(request: PlaceRequest, run: ServerRun): Promise<ToolOutputObject> {
  const text = await atPlace(request, run, async ({ server, params }) => {
    requireCapability(server, 'hoverProvider', 'hover');
    return parseAnswer(Hover, await server.request('textDocument/hover', params, run.ctx), server.settings.name);
  });
  const isCut = text.length > SHOWN_CHARACTERS;
  const shown = isCut ? `${run.ctx.redact(text.slice(0, SHOWN_CHARACTERS), true)}\n[cut at ${SHOWN_CHARACTERS} characters]` : text;
  const { path, row, column } = request;
  return textOutput(shown || 'Nothing is known about this place', { path, row, column, found: text !== '', truncated: isCut });
}
