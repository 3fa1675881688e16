import type { CommandForm, ToolContext } from '#tool-sdk';

/** Form of a command's result, with the texts that every result needs. */
export type FullCommandForm = CommandForm & Required<Pick<CommandForm, 'timedOut'>>;

const OWN: FullCommandForm = { timedOut: (ms) => `Command timed out after ${Math.round(ms / 100) / 10}s and was killed` };

export function commandFormOf({ answers }: Pick<ToolContext, 'answers'>): FullCommandForm {
  return { ...OWN, ...answers?.commands };
}
