import type { PolicyProfile } from '#contracts';

/** What of a command's answer is particular to one known agent. */
export interface ShellDialect {
  timedOut(ms: number): string;
  /** The whole text of a command that ended with another code than 0. Absent: the output, then the code. */
  failed?(code: number, output: string): string;
  /** So much of each stream is kept, bytes, and what stands behind what was cut off. Absent: our own limit, and the sizes. */
  readonly stream?: { readonly bytes: number; cut(stream: string): string };
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10}s`;
const core: ShellDialect = { timedOut: (ms) => `Command timed out after ${seconds(ms)} and was killed` };

export const SHELL_DIALECTS: Readonly<Record<PolicyProfile, ShellDialect>> = {
  core,
  zeroclaw: {
    ...core,
    stream: { bytes: 1_048_576, cut: (stream) => `\n... [${stream === 'stderr' ? stream : 'output'} truncated at 1MB]` },
  },
  claw: { timedOut: (ms) => `Command exceeded timeout of ${Math.round(ms)} ms` },
  phi: {
    timedOut: (ms) => `Command timed out after ${seconds(ms)}`,
    stream: { bytes: 262_144, cut: () => '\n... (output truncated)' },
  },
  oxydra: {
    timedOut: (ms) => `tool timed out after ${seconds(ms)}`,
    failed: (code, output) => `command exited with status ${code}: ${output}`,
  },
  kiro: { ...core, stream: { bytes: Math.floor(400_000 / 3), cut: () => ' ... truncated' } },
};
