import { z } from 'zod';
import type { JsonValue } from '#contracts';
import { globFolder, projectPath, type ProjectView } from './project-path.js';

/** Tool of Toolyard with arguments of equal meaning for its policy. */
export interface PolicyQuestion {
  readonly tool: string;
  readonly arguments: Record<string, JsonValue>;
}

/** Most characters of a content, which the policy does not need whole: it evaluates paths, commands and hosts. */
const CONTENT_CHARS = 50_000;
const cut = (text: string) => text.slice(0, CONTENT_CHARS);

const Bash = z.object({ command: z.string() });
const File = z.object({ file_path: z.string() });
const Write = File.extend({ content: z.string() });
const Edit = File.extend({ old_string: z.string(), new_string: z.string() });
const Notebook = z.object({ notebook_path: z.string(), new_source: z.string().default('') });
const Glob = z.object({ pattern: z.string(), path: z.string().optional() });
const Grep = z.object({ path: z.string().optional() });
const Folder = z.object({ path: z.string() });
const Url = z.object({ url: z.string() });

type Translation = (input: unknown, view: ProjectView) => PolicyQuestion;

function translation<S extends z.ZodType>(
  tool: string,
  schema: S,
  args: (input: z.output<S>, view: ProjectView) => PolicyQuestion['arguments'],
): Translation {
  return (input, view) => ({ tool, arguments: args(schema.parse(input), view) });
}

const command = translation('shell', Bash, (input, view) => {
  const folder = projectPath('.', view);
  return { command: input.command, ...(folder === '.' ? {} : { working_dir: folder }) };
});

/** Arguments of an edit. The policy needs only the file; missing texts are placeholders. */
function edit({ file_path, old_string, new_string = '' }: EditInput, view: ProjectView): PolicyQuestion['arguments'] {
  return { path: projectPath(file_path, view), old_text: cut(old_string ?? '') || 'text', new_text: cut(new_string) };
}

interface EditInput {
  readonly file_path: string;
  readonly old_string?: string;
  readonly new_string?: string;
}

/** Tools of Claude Code that act on files, commands and hosts, by the names of its versions. */
const TRANSLATIONS: Readonly<Record<string, Translation>> = {
  Bash: command,
  Monitor: command,
  Read: translation('file_read', File, ({ file_path }, view) => ({ path: projectPath(file_path, view) })),
  Write: translation('file_write', Write, ({ file_path, content }, view) => ({
    path: projectPath(file_path, view),
    content: cut(content),
  })),
  Edit: translation('file_edit', Edit, edit),
  MultiEdit: translation('file_edit', File, edit),
  NotebookEdit: translation('notebook_edit', Notebook, ({ notebook_path, new_source }, view) => ({
    path: projectPath(notebook_path, view),
    new_source: cut(new_source),
  })),
  Glob: translation('glob', Glob, ({ pattern, path = '.' }, view) => {
    const folder = globFolder(pattern);
    return { pattern: '**/*', path: projectPath(folder.startsWith('/') ? folder : `${path}/${folder}`, view) };
  }),
  Grep: translation('file_search', Grep, ({ path = '.' }, view) => ({ query: 'text', literal: true, path: projectPath(path, view) })),
  LS: translation('file_list', Folder, ({ path }, view) => ({ path: projectPath(path, view) })),
  WebFetch: translation('web_fetch', Url, ({ url }) => ({ url })),
};

/** Tools of Claude Code that the policy can evaluate without `more`. */
export const CLAUDE_TOOLS: readonly string[] = Object.keys(TRANSLATIONS);

/**
 * Quote request for a tool use. Undefined for tools that neither this table nor `more` has; those of `more` keep their
 * arguments unchanged. @throws ZodError for input of another tool
 */
export function policyQuestion(
  name: string,
  input: unknown,
  view: ProjectView,
  more: Readonly<Record<string, string>> = {},
): PolicyQuestion | undefined {
  const tool = Object.hasOwn(more, name) ? more[name] : undefined;
  if (tool !== undefined) return { tool, arguments: ToolInput.parse(input) };
  return Object.hasOwn(TRANSLATIONS, name) ? TRANSLATIONS[name]?.(input, view) : undefined;
}

const ToolInput = z.record(z.string(), z.json());
