import type { ToolContext, ToolOutputObject } from '#tool-sdk';
import { textOutput } from '../../text-output.js';
import type { LanguageServer } from '../language-server.js';
import { type AnswerDiagnostic, DiagnosticReport, Diagnostics, parseAnswer } from '../server-answers.js';
import type { ServerRun } from './place-request.js';

const MESSAGE_CHARACTERS = 1_000;
const SEVERITIES = ['error', 'warning', 'information', 'hint'] as const;

/** Errors and warnings of a file. */
export async function diagnosticsOf(path: string, limit: number, { servers, ctx }: ServerRun): Promise<ToolOutputObject> {
  const settings = servers.required(path);
  const found = await servers.use(settings, ctx, (server) => askFor(server, path, ctx));
  const sorted = (found ?? []).toSorted(
    (a, b) => a.range.start.line - b.range.start.line || a.range.start.character - b.range.start.character,
  );
  const shown = sorted.slice(0, limit).map(({ range, severity = 1, message, code, source }) => ({
    path,
    row: range.start.line + 1,
    column: range.start.character + 1,
    severity: SEVERITIES[severity - 1] ?? 'error',
    message: message.length > MESSAGE_CHARACTERS ? ctx.redact(message.slice(0, MESSAGE_CHARACTERS), true) : message,
    ...(code === undefined ? {} : { code: String(code).slice(0, 100) }),
    ...(source === undefined ? {} : { source: source.slice(0, 100) }),
  }));
  const lines = shown.map(
    ({ row, column, severity, code, message }) =>
      `${path}:${row}:${column} ${severity}${code === undefined ? '' : ` ${code}`} | ${message}`,
  );
  const more = sorted.length > shown.length;
  const nothing = found === undefined ? `${settings.name} reported nothing about ${path} in time` : `No errors or warnings in ${path}`;
  const note = more ? `\n[the first ${shown.length} of ${sorted.length} are shown: raise limit]` : '';
  return textOutput((lines.join('\n') || nothing) + note, { path, diagnostics: shown, reported: found !== undefined, truncated: more });
}

/** Undefined where the server did not report. */
async function askFor(server: LanguageServer, path: string, ctx: ToolContext): Promise<AnswerDiagnostic[] | undefined> {
  const { name } = server.settings;
  if (server.can('diagnosticProvider')) {
    const { uri } = await server.show(path, ctx);
    return parseAnswer(DiagnosticReport, await server.request('textDocument/diagnostic', { textDocument: { uri } }, ctx), name);
  }
  const { uri } = await server.show(path, ctx, true);
  const signal = AbortSignal.any([ctx.signal, server.ended]);
  const items = await server.diagnostics.settled(uri, { signal, timeoutMs: server.times.requestMs });
  return items === undefined ? undefined : parseAnswer(Diagnostics, items, name);
}
