import type { ToolOutputObject } from '#tool-sdk';
import { textOutput } from '../../text-output.js';
import { Places, parseAnswer, type AnswerPlace } from '../server-answers.js';
import { type PlaceInServer, type PlaceRequest, type ServerRun, atPlace, requireCapability } from './place-request.js';
import { type PlaceLine, PlaceLines } from './place-lines.js';

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Definitions of the symbol at a place. */
export async function definitionsAt(request: PlaceRequest & Page, run: ServerRun): Promise<ToolOutputObject> {
  const places = await atPlace(request, run, (place) => definitionsOf(place, run));
  const { lines, notes, more } = await linesOf(places, request, run);
  const text = lines.map(({ path, row, column, line }) => `${path}:${row}:${column} | ${line}`).join('\n');
  return textOutput((text || 'No definition') + notes, { definitions: lines.map(({ line: _line, ...place }) => place), truncated: more });
}

/** Uses of the symbol at a place, with its definitions. */
export async function referencesAt(request: PlaceRequest & Page, run: ServerRun): Promise<ToolOutputObject> {
  const [places, definitions] = await atPlace(request, run, async (place) => {
    requireCapability(place.server, 'referencesProvider', 'references');
    const { server, params } = place;
    const answer = server.request('textDocument/references', { ...params, context: { includeDeclaration: true } }, run.ctx);
    const both = await Promise.all([answer, definitionsOf(place, run)]);
    return [parseAnswer(Places, both[0], server.settings.name), both[1]] as const;
  });
  const defined = new Set(new PlaceLines(run.ctx).sorted(definitions).map(nameOf));
  const { lines, notes, more } = await linesOf(places, request, run);
  const references = lines.map((place) => ({ ...place, definition: defined.has(nameOf(place)) }));
  const text = references.map(
    ({ path, row, column, line, definition }) => `${path}:${row}:${column}${definition ? ' (definition)' : ''} | ${line}`,
  );
  return textOutput((text.join('\n') || 'No references') + notes, {
    references: references.map(({ line: _line, ...place }) => place),
    truncated: more,
  });
}

async function definitionsOf({ server, params }: PlaceInServer, { ctx }: ServerRun): Promise<AnswerPlace[]> {
  requireCapability(server, 'definitionProvider', 'definitions');
  return parseAnswer(Places, await server.request('textDocument/definition', params, ctx), server.settings.name);
}

async function linesOf(
  places: readonly AnswerPlace[],
  { limit, offset }: Page,
  { ctx }: ServerRun,
): Promise<{ lines: PlaceLine[]; notes: string; more: boolean }> {
  const all = new PlaceLines(ctx);
  const sorted = all.sorted(places);
  const lines: PlaceLine[] = [];
  for (const place of sorted.slice(offset, offset + limit)) {
    const line = await all.withLine(place);
    if (line !== undefined) lines.push(line);
  }
  const more = sorted.length > offset + limit;
  const notes = [
    ...(more ? [`${offset + 1} to ${offset + limit} of ${sorted.length} are shown: raise limit or offset`] : []),
    ...all.notes(),
  ];
  return { lines, notes: notes.map((note) => `\n[${note}]`).join(''), more };
}

function nameOf({ path, row, column }: Omit<PlaceLine, 'line'>): string {
  return `${path}:${row}:${column}`;
}
