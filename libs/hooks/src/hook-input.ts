import type { Content, HookEvent, HookInput } from '#contracts';

/** Longest variable: environment strings have a limit in the kernel (128 KiB on Linux), while arguments and outputs have no lower one. */
const VARIABLE_CHARACTERS = 30_000;

const EVENT_NAMES: Readonly<Record<HookEvent, string>> = {
  before: 'PreToolUse',
  after: 'PostToolUse',
  after_end: 'ToolEnd',
  before_update: 'PreToolUpdate',
  after_update: 'PostToolUpdate',
};

/** Name of the event in `hook_event_name` and `HOOK_EVENT`, equal to that of hooks for other agents. */
export function hookEventName(event: HookEvent): string {
  return EVENT_NAMES[event];
}

/** Text items of an update or output, joined by line feeds. */
export function textOf(content: readonly Content[]): string {
  return content.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n');
}

/** Variables with the content of the JSON on standard input, for commands that read variables. Cuts long values. */
export function hookVariables(input: HookInput): Record<string, string> {
  const { hook_event_name, tool_name, tool_input, tool_response } = input;
  return {
    HOOK_EVENT: hook_event_name,
    HOOK_TOOL_NAME: variable(tool_name),
    HOOK_TOOL_INPUT: variable(JSON.stringify(tool_input)),
    HOOK_TOOL_IS_ERROR: tool_response?.is_error === true ? '1' : '0',
    ...(tool_response === undefined ? {} : { HOOK_TOOL_OUTPUT: variable(tool_response.text) }),
  };
}

function variable(text: string): string {
  return text.slice(0, VARIABLE_CHARACTERS).replaceAll('\0', '');
}
