import { specTypeSchemas, type Tool } from '@modelcontextprotocol/client';
import { fieldsOf, isFields, type Fields } from '../../fields.js';
import { MAX_LISTED } from './list-pages.js';
import { isEmptyList, isValid, withCacheFacts, withoutNulls } from './tolerant-fields.js';

const MENDED = 'io.toolyard/tool';
const FIELDS = ['title', 'description', 'outputSchema', 'execution', 'icons'];
const HINTS = ['title', 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
const NO_INPUT = { type: 'object' };

/** Fields of a tool that the client would refuse. */
export interface Mended {
  readonly inputSchema: unknown;
  /** Output schema in the form of an older revision, which the client reads from an older server. */
  readonly outputSchema?: unknown;
  /** The fields that were left out. */
  readonly left: readonly string[];
}

/**
 * A page of `tools/list` as the client takes it, which would refuse the whole list for one odd part of one tool: parts that
 * cannot be read are left out, and `mendedOf` a tool says which.
 */
export function readToolList(result: Fields, next: (cursor: unknown, tools: number) => string | undefined): Fields {
  const { tools: given, nextCursor, ...rest } = withoutNulls(result);
  const tools = isFields(given) ? Object.entries(given).map(([name, tool]) => ({ name, ...fieldsOf(tool) })) : given;
  const cursor = next(typeof nextCursor === 'number' ? String(nextCursor) : nextCursor, Array.isArray(tools) ? tools.length : 0);
  return {
    ...withCacheFacts(rest),
    tools: tools === undefined ? [] : Array.isArray(tools) ? tools.slice(0, MAX_LISTED).map(readTool) : tools,
    ...(cursor === undefined ? {} : { nextCursor: cursor }),
  };
}

/** Undefined for a tool that is as its server wrote it. */
export function mendedOf({ _meta }: Pick<Tool, '_meta'>): Mended | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `readTool` wrote it
  return _meta?.[MENDED] as Mended | undefined;
}

/** Python writes the names of its fields where a server forgets to ask for those of the protocol. */
function withUsualNames({ input_schema: ofPython, parameters, output_schema: output, ...rest }: Fields): Fields {
  const input = ofPython ?? parameters;
  const { annotations } = rest;
  const hints = isFields(annotations)
    ? HINTS.flatMap((name) => {
        const given = annotations[name.replaceAll(/[A-Z]/g, (it) => `_${it.toLowerCase()}`)];
        return given === undefined || annotations[name] !== undefined ? [] : [[name, given] as const];
      })
    : [];
  return {
    ...(input === undefined ? {} : { inputSchema: input }),
    ...(output === undefined ? {} : { outputSchema: output }),
    ...rest,
    ...(hints.length === 0 ? {} : { annotations: { ...fieldsOf(annotations), ...Object.fromEntries(hints) } }),
  };
}

function readTool(value: unknown): Fields {
  const tool = withUsualNames(withoutNulls(fieldsOf(value)));
  const accepts = (fields: Fields) => isValid(specTypeSchemas.Tool, { name: '', inputSchema: NO_INPUT, ...fields });
  const { _meta } = tool;
  const { outputSchema } = tool;
  const isPlain = outputSchema === undefined || accepts({ inputSchema: outputSchema });
  if (isPlain && accepts({ name: undefined, inputSchema: undefined, ...tool }) && fieldsOf(_meta)[MENDED] === undefined) return tool;
  const kept: Record<string, unknown> = {};
  const left: string[] = [];
  for (const name of FIELDS) {
    if (tool[name] === undefined || isEmptyList(tool[name])) continue;
    if (!accepts({ [name]: tool[name] })) left.push(name);
    else if (name !== 'outputSchema' || isPlain) kept[name] = tool[name];
  }
  const annotations = withoutNulls(fieldsOf(tool['annotations']));
  const odd = HINTS.filter((name) => !accepts({ annotations: { [name]: annotations[name] } }));
  left.push(...odd.map((name) => `annotations.${name}`));
  if (tool['annotations'] !== undefined && !isFields(tool['annotations']) && !isEmptyList(tool['annotations'])) left.push('annotations');
  const carriesOutput = !isPlain && !left.includes('outputSchema');
  const mended: Mended = { inputSchema: tool['inputSchema'], ...(carriesOutput ? { outputSchema } : {}), left };
  return {
    ...kept,
    name: typeof tool['name'] === 'string' ? tool['name'] : '',
    inputSchema: accepts({ inputSchema: tool['inputSchema'] }) ? tool['inputSchema'] : NO_INPUT,
    annotations: Object.fromEntries(Object.entries(annotations).filter(([name]) => !odd.includes(name))),
    _meta: { ...(isFields(_meta) ? _meta : {}), [MENDED]: mended },
  };
}
