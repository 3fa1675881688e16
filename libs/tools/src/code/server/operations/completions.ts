import type { ToolOutputObject } from '#tool-sdk';
import { CompletionItemKind } from 'vscode-languageserver-protocol/node';
import { textOutput } from '../../text-output.js';
import { Completions, parseAnswer } from '../server-answers.js';
import { type PlaceRequest, type ServerRun, atPlace, requireCapability } from './place-request.js';

const SHOWN_CHARACTERS = 200;
const KIND_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(CompletionItemKind).flatMap(([name, value]) => (typeof value === 'number' ? [[value, name.toLowerCase()] as const] : [])),
);

/** Completions at a place: names that begin with the text before it. */
export async function completionsAt(request: PlaceRequest & { readonly limit: number }, run: ServerRun): Promise<ToolOutputObject> {
  const { items, before } = await atPlace(request, run, async ({ server, document, params }) => {
    requireCapability(server, 'completionProvider', 'completions');
    const answer = await server.request('textDocument/completion', params, run.ctx);
    const line = document.text.split('\n')[params.position.line] ?? '';
    const [word = ''] = /[\p{ID_Continue}$]*$/u.exec(line.slice(0, params.position.character)) ?? [];
    return { items: parseAnswer(Completions, answer, server.settings.name), before: word.toLowerCase() };
  });
  const fitting = items.filter(({ label, filterText }) => (filterText ?? label).toLowerCase().startsWith(before));
  const sorted = fitting.toSorted((a, b) => ((a.sortText ?? a.label) < (b.sortText ?? b.label) ? -1 : 1));
  const cut = (text: string): string => (text.length > SHOWN_CHARACTERS ? run.ctx.redact(text.slice(0, SHOWN_CHARACTERS), true) : text);
  const shown = sorted.slice(0, request.limit).map(({ label, kind, detail }) => {
    const kindName = kind === undefined ? undefined : KIND_NAMES.get(kind);
    return { label: cut(label), ...(kindName && { kind: kindName }), ...(detail && { detail: cut(detail) }) };
  });
  const lines = shown.map(({ label, kind = '', detail = '' }) => [label, kind, detail].filter((part) => part !== '').join(' '));
  const more = fitting.length > shown.length;
  const note = more ? `\n[the first ${shown.length} of ${fitting.length} are shown: write more of the name]` : '';
  return textOutput((lines.join('\n') || 'No completions') + note, { completions: shown, truncated: more });
}
