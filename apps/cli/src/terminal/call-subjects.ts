import type { ToolSubject } from '#contracts';
import { subjectText } from '#subject';
import type { CommandContext } from '../command-context.js';
import { hasHidden, visible } from './visible-text.js';

/** What calls do, in one line each: `$ npm test`, `src/login.ts`. */
export interface CallSubjects {
  /** `preview`: the beginning of the arguments as JSON text. Hidden characters are written out. */
  line(tool: string, preview: string): string;
  /** The arguments of a tool that carry risk. */
  of(tool: string): readonly ToolSubject[];
}

const loaded = new WeakMap<object, Promise<CallSubjects>>();

/** Reads the catalog once a command. Without a catalog, subjects are the arguments. */
export function callSubjects(context: Pick<CommandContext, 'client' | 'terminal'>): Promise<CallSubjects> {
  const { client } = context;
  let subjects = loaded.get(client);
  if (subjects === undefined) loaded.set(client, (subjects = read(context)));
  return subjects;
}

async function read({ client, terminal }: Pick<CommandContext, 'client' | 'terminal'>): Promise<CallSubjects> {
  const tools = await client.tools.list().catch(() => []);
  const byName = new Map(tools.map(({ name, subjects }) => [name, subjects]));
  const of = (tool: string) => byName.get(tool) ?? [];
  return {
    of,
    line: (tool, preview) => {
      const text = subjectText(preview, of(tool));
      if (hasHidden(text)) terminal.warnOfHidden();
      return visible(text);
    },
  };
}
