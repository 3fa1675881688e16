import { ToolError } from '#tool-sdk';

/** Limits that no test reaches by being slow. */
export const TIMES = { startMs: 20_000, requestMs: 20_000, quietMs: 20 };

/** Range in the protocol's form: rows and columns from 0. */
export const range = (line: number, from: number, to: number) => ({ start: { line, character: from }, end: { line, character: to } });
export const at = (path: string, line: number, from: number, to = from + 1) => ({
  uri: path.includes(':') ? path : `ROOT/${path}`,
  range: range(line, from, to),
});

export async function failureOf(work: Promise<unknown>): Promise<ToolError> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof ToolError) return failure;
  throw new Error('expected a ToolError', { cause: failure });
}
