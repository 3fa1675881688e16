import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { isWithin } from '#sandbox';
import { ToolError } from '#tool-sdk';

const unsigned = z.number().int().min(0).max(2_147_483_647);
const Position = z.object({ line: unsigned, character: unsigned });
const Range = z.object({ start: Position, end: Position });

const Location = z.object({ uri: z.string(), range: Range });
const LocationLink = z
  .object({ targetUri: z.string(), targetSelectionRange: Range })
  .transform(({ targetUri, targetSelectionRange }) => ({ uri: targetUri, range: targetSelectionRange }));
const Place = z.union([Location, LocationLink]);
export const Places = z.union([z.null().transform(() => []), z.array(Place), Place.transform((place) => [place])]);
export type AnswerPlace = z.output<typeof Place>;

const Marked = z.union([
  z.string(),
  z.object({ kind: z.string(), value: z.string() }).transform(({ value }) => value),
  z.object({ language: z.string(), value: z.string() }).transform(({ language, value }) => `\`\`\`${language}\n${value}\n\`\`\``),
]);
export const Hover = z
  .object({ contents: z.union([z.array(Marked), Marked.transform((text) => [text])]) })
  .nullable()
  .transform((hover) => (hover?.contents ?? []).join('\n\n').trim());

const CompletionItem = z.object({
  label: z.string(),
  kind: z.number().optional().catch(undefined),
  detail: z.string().optional().catch(undefined),
  filterText: z.string().optional().catch(undefined),
  sortText: z.string().optional().catch(undefined),
});
export const Completions = z.union([
  z.null().transform(() => []),
  z.array(CompletionItem),
  z.object({ items: z.array(CompletionItem) }).transform(({ items }) => items),
]);

const Diagnostic = z.object({
  range: Range,
  severity: z.number().optional().catch(undefined),
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  source: z.string().optional().catch(undefined),
  message: z.union([z.string(), z.object({ value: z.string() }).transform(({ value }) => value)]),
});
export type AnswerDiagnostic = z.output<typeof Diagnostic>;
export const Diagnostics = z.array(Diagnostic);
export const DiagnosticReport = z.object({ items: Diagnostics }).transform(({ items }) => items);

const TextEdit = z.object({ range: Range, newText: z.string() });
export type AnswerEdit = z.output<typeof TextEdit>;
export const TextEdits = z
  .array(TextEdit)
  .nullable()
  .transform((edits) => edits ?? []);
/** No other change of a workspace is announced as one that is understood. */
const DocumentEdit = z.object({ textDocument: z.object({ uri: z.string() }), edits: z.array(TextEdit) });
export const WorkspaceEdit = z
  .object({ changes: z.record(z.string(), z.array(TextEdit)).optional(), documentChanges: z.array(DocumentEdit).optional() })
  .nullable()
  .transform((answer) =>
    answer?.documentChanges === undefined
      ? Object.entries(answer?.changes ?? {}).map(([uri, edits]) => ({ uri, edits }))
      : answer.documentChanges.map(({ textDocument: { uri }, edits }) => ({ uri, edits })),
  );

/** Most values of a response. A check of more blocks the process, since it records a fault of each. */
const MOST_VALUES = 200_000;

/** @throws ToolError where an answer is not of the form of the protocol, or too long */
export function parseAnswer<S extends z.ZodType>(schema: S, answer: unknown, serverName: string): z.output<S> {
  if (hasMoreValues(answer, MOST_VALUES))
    throw new ToolError('tool_failed', `The language server ${serverName} gave an answer of more than ${MOST_VALUES} values.`, {
      retryable: false,
    });
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  throw new ToolError('tool_failed', `The language server ${serverName} gave an answer that is not of the protocol.`, {
    retryable: false,
  });
}

/** True if the JSON value has more than `most` values, at any depth. */
function hasMoreValues(json: unknown, most: number): boolean {
  let count = 0;
  const open: unknown[] = [json];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const values = Object.values(value);
    count += values.length;
    if (count > most) return true;
    for (const one of values) if (typeof one === 'object' && one !== null) open.push(one);
  }
  return false;
}

/** The absolute path of a file in the folder; undefined for everything else that a URI may name. */
export function fileWithin(root: string, uri: string): string | undefined {
  try {
    const path = fileURLToPath(uri);
    return path !== root && isWithin(path, root) ? path : undefined;
  } catch {
    return undefined;
  }
}
