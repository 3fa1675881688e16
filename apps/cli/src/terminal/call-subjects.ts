import type { JsonValue, ToolSubject } from '#contracts';
import { subjectText, withoutDefaults } from '#subject';
import type { CommandContext } from '../command-context.js';

/** Subjects of calls, one line each: `$ npm test`, `src/login.ts`. */
export interface CallSubjects {
  /** `preview`: the beginning of the arguments as JSON text. Hidden characters are written out. */
  line(tool: string, preview: string): string;
  /** The arguments of a tool that carry risk. */
  of(tool: string): readonly ToolSubject[];
  /** Arguments without switches and numbers that have their default, which are named apart: `persistent false`. */
  chosen(tool: string, args: JsonValue): ReturnType<typeof withoutDefaults>;
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
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const of = (tool: string) => byName.get(tool)?.subjects ?? [];
  return {
    of,
    chosen: (tool, args) => withoutDefaults(args, byName.get(tool)?.input),
    line: (tool, preview) => terminal.visible(subjectText(preview, of(tool))),
  };
}
