import type { Sandbox } from '#sandbox';

/** Programs that tools require. `missing`: message if there is none. */
const PROGRAMS = {
  powershell: {
    names: ['pwsh', 'powershell'],
    missing: 'PowerShell executable not found (expected `pwsh` or `powershell` in PATH)',
  },
  aws: { names: ['aws'], missing: 'AWS CLI not found (expected `aws` in PATH)' },
} as const;

export type ToolProgram = keyof typeof PROGRAMS;

/** The path of the program where commands run, or why there is none. */
export function findProgram(
  sandbox: Sandbox,
  program: ToolProgram,
  path?: string,
): { readonly file: string } | { readonly missing: string } {
  const { names, missing } = PROGRAMS[program];
  const file = sandbox.findProgram(names, path);
  return file === undefined ? { missing } : { file };
}

/** Availability of the program for commands of a worker, for its status. */
export function programStatus(sandbox: Sandbox, program: ToolProgram): { readonly ok: boolean; readonly reason?: string } {
  const found = findProgram(sandbox, program);
  return 'missing' in found ? { ok: false, reason: found.missing } : { ok: true };
}
