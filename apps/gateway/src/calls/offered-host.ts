import type { ToolDescriptor } from '#contracts';

/** A tool whose commands run on another host says so to the model. Pure. */
export function withHost(tool: ToolDescriptor, host: string | undefined): ToolDescriptor {
  if (host === undefined || tool.source !== 'builtin' || !isShell(tool)) return tool;
  const note = `Commands run on the host ${host} over ssh, in a folder of this session there. Tools that work with files or programs here do not reach it: use commands for its files.`;
  return { ...tool, description: `${tool.description}\n${note}` };
}

/** Runs commands of a shell, and of no other language: those stay on the worker. */
function isShell({ pool, subjects }: ToolDescriptor): boolean {
  return pool === 'shell' && subjects.some((it) => it.kind === 'command' && it.language === undefined && it.languageArgument === undefined);
}
