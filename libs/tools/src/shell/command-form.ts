import type { CommandForm, ToolContext } from '#tool-sdk';

/** How a command is answered: the texts that every answer needs are there. */
export type FullCommandForm = CommandForm & Required<Pick<CommandForm, 'timedOut'>>;

const OWN: FullCommandForm = { timedOut: (ms) => `Command timed out after ${Math.round(ms / 100) / 10}s and was killed` };

export function commandFormOf({ answers }: Pick<ToolContext, 'answers'>): FullCommandForm {
  return { ...OWN, ...answers?.commands };
}
