import type { ToolDescriptor } from '#contracts';

/** Adds a note to a tool whose commands run on another host. Pure. */
export function withHost(tool: ToolDescriptor, host: string | undefined): ToolDescriptor {
  if (host === undefined || tool.source !== 'builtin' || !isShell(tool)) return tool;
  const note = `Commands run on the host ${host} over ssh, in a folder of this session there. Tools that work with files or programs here do not reach it: use commands for its files.`;
  return { ...tool, description: `${tool.description}\n${note}` };
}

/** True for tools that run shell commands. Other languages stay on the worker. */
function isShell({ pool, subjects }: ToolDescriptor): boolean {
  return pool === 'shell' && subjects.some((it) => it.kind === 'command' && it.language === undefined && it.languageArgument === undefined);
}
