import { isNode } from './tidy.js';

/** Page `/docs/stream`: each frame of the AsyncAPI document with its fields and an example, for people. Needs no script. */
export function streamPage(document: Record<string, unknown>): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- asyncApiDocument makes it in this form
  const { info, channels, operations, components } = document as unknown as AsyncApi;
  const sections = Object.entries(channels).map(([id, channel]) => {
    const groups = Object.values(operations).filter((operation) => operation.channel.$ref === `#/channels/${id}`);
    return `<section><h2>${text(channel.title)} <code>${text(channel.address)}</code></h2>${paragraphs(channel.description)}
${groups.map((group) => groupOf(group, components)).join('\n')}</section>`;
  });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${text(info.title)}</title>
    <link rel="stylesheet" href="stream.css" />
    <link rel="icon" type="image/svg+xml" href="../favicon.svg" />
  </head>
  <body>
    <main>
      <h1>${text(info.title)} <small>${text(info.version)}</small></h1>
      <p><a href="../docs">HTTP API</a> · <a href="../asyncapi.json">AsyncAPI document</a></p>
      ${paragraphs(info.description)}
      ${sections.join('\n')}
    </main>
  </body>
</html>
`;
}

interface AsyncApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly channels: Readonly<Record<string, { readonly title: string; readonly address: string; readonly description?: string }>>;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly components: Components;
}
interface Operation {
  readonly title: string;
  readonly channel: { readonly $ref: string };
  readonly messages: readonly { readonly $ref: string }[];
}
interface Components {
  readonly messages: Readonly<Record<string, Message>>;
  readonly schemas: Readonly<Record<string, unknown>>;
}
interface Message {
  readonly summary?: string;
  readonly payload: unknown;
  readonly examples?: readonly { readonly payload: object }[];
}

function groupOf({ title, messages }: Operation, components: Components): string {
  const names = messages.map(({ $ref }) => $ref.slice($ref.lastIndexOf('/') + 1));
  return `<h3>${text(title)}</h3>\n${names.map((name) => frameOf(name, components)).join('\n')}`;
}

function frameOf(name: string, { messages, schemas }: Components): string {
  const { summary = '', payload, examples = [] } = messages[name] ?? { payload: {} };
  const op = name.slice(name.indexOf('.') + 1);
  const rows = fieldsOf(payload, schemas).map(
    ({ field, required, description }) =>
      `<tr><th scope="row"><code>${text(field)}</code>${required ? '' : ' <small>optional</small>'}</th><td>${inline(description)}</td></tr>`,
  );
  const table = rows.length === 0 ? '' : `<table><tbody>${rows.join('')}</tbody></table>`;
  const shown = examples.map((example) => `<pre tabindex="0">${text(JSON.stringify(example.payload, null, 2))}</pre>`);
  return `<details id="${text(name)}"><summary><code>${text(op)}</code> ${inline(summary)}</summary>${table}${shown.join('')}</details>`;
}

interface Field {
  readonly field: string;
  readonly required: boolean;
  readonly description: string;
}

/** Fields of a frame except `op`, which is its name. */
function fieldsOf(payload: unknown, schemas: Components['schemas']): Field[] {
  const schema = resolved(payload, schemas);
  if (!isNode(schema) || !isNode(schema['properties'])) return [];
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(schema['properties'])
    .filter(([field]) => field !== 'op')
    .map(([field, value]) => ({ field, required: required.includes(field), description: descriptionOf(value, schemas) }));
}

function descriptionOf(value: unknown, schemas: Components['schemas']): string {
  return (
    [value, resolved(value, schemas)]
      .map((schema) => (isNode(schema) ? schema['description'] : undefined))
      .find((description) => typeof description === 'string') ?? ''
  );
}

function resolved(schema: unknown, schemas: Components['schemas']): unknown {
  if (!isNode(schema)) return schema;
  const first: unknown = Array.isArray(schema['allOf']) ? schema['allOf'][0] : undefined;
  const ref = schema['$ref'] ?? (isNode(first) ? first['$ref'] : undefined);
  return typeof ref === 'string' ? schemas[ref.slice(ref.lastIndexOf('/') + 1)] : schema;
}

function paragraphs(markdown = ''): string {
  return markdown
    .split(/\n{2,}/)
    .filter((part) => part !== '')
    .map((part) => `<p>${inline(part)}</p>`)
    .join('\n');
}

/** Converts inline code, the only Markdown in the descriptions of frames. */
function inline(markdown: string): string {
  return text(markdown).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function text(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

export const STREAM_STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; background: light-dark(#fff, #141517); color: light-dark(#212529, #d5d7db); }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
a { color: light-dark(#1864ab, #74c0fc); }
small { font-size: 0.8em; color: light-dark(#495057, #a6a7ab); }
code, pre { font: 0.9em/1.5 ui-monospace, monospace; }
pre { overflow: auto; padding: 0.75rem; background: light-dark(#f1f3f5, #25262b); border-radius: 0.25rem; }
details { border-top: 1px solid light-dark(#ced4da, #3a3b40); padding: 0.25rem 0; }
summary { cursor: pointer; padding: 0.25rem 0; min-height: 24px; }
summary code { font-weight: 700; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; font-weight: 400; }
th { width: 14rem; }
`;
