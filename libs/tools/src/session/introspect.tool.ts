import { z } from 'zod';
import { Tool, ToolError, type ToolOutputObject } from '#tool-sdk';
import { productDocuments, sectionsAbout, sectionsOf } from './documents/product-documents.js';

const MOST_SECTIONS = 5;

const input = z.strictObject({
  query: z.string().min(1).max(1_000).optional().describe('What to look for: the sections about it are returned.'),
  doc_path: z.string().min(1).max(256).optional().describe('A document, such as libs/README.md: its whole text is returned.'),
});

/** Answers from the documents shipped with the product, which are the same for every tenant. */
@Tool({
  name: 'introspect',
  label: 'Read about Toolyard',
  description:
    'Looks into the documents of Toolyard, the system that runs your tools: how tools, policies, approvals, sessions and limits work. ' +
    'Answers {documentation, query_context}. With doc_path a whole document, with query the sections about it, with neither, or where nothing fits, the index of all documents.',
  input,
  tier: 'read_only',
  effect: 'pure',
  pool: 'read',
  timeoutMs: 10_000,
  rawArgument: 'query',
  examples: [
    { title: 'About a topic', arguments: { query: 'permission mode of a session' } },
    { title: 'One document', arguments: { doc_path: 'libs/policy/README.md' } },
  ],
})
export class IntrospectTool {
  private documents: ReadonlyMap<string, string> | undefined;

  run({ query, doc_path: path }: z.output<typeof input>): ToolOutputObject {
    this.documents ??= productDocuments();
    if (path !== undefined) return answer(this.document(path), query ?? '');
    const sections = [...this.documents].flatMap(([name, text]) => sectionsOf(name, text));
    const found = query === undefined ? [] : sectionsAbout(query, sections, MOST_SECTIONS);
    const documentation = found.map((section) => `[${section.path}]\n${section.text}`).join('\n\n');
    return answer(documentation === '' ? this.index() : documentation, query ?? '');
  }

  private document(path: string): string {
    const text = this.documents?.get(path.replace(/^\.?\//, ''));
    if (text === undefined) throw new ToolError('invalid_arguments', `There is no document ${path}. ${this.index()}`);
    return text;
  }

  private index(): string {
    return `Documents:\n${[...(this.documents ?? [])].map(([path, text]) => `- ${path}: ${titleOf(text)}`).join('\n')}`;
  }
}

function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? '';
}

function answer(documentation: string, query: string): ToolOutputObject {
  return { content: [{ type: 'json', json: { documentation, query_context: query } }] };
}
