import { z } from 'zod';

/** What a command did, of the canonical `shell`. */
export const ShellFacts = z.object({
  exitCode: z.number(),
  signal: z.string().nullable(),
  stdout: z.string(),
  stderr: z.string(),
  durationMs: z.number(),
});

/** Both streams in one text, with their names where there are two. */
export function shellText(stdout: string, stderr: string): string {
  return stdout !== '' && stderr !== '' ? `stdout:\n${stdout}\n\nstderr:\n${stderr}` : stdout + stderr;
}
