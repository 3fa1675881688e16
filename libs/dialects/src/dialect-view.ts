import type { DialectHints, JsonSchema, ToolDescriptor } from '#contracts';
import { closestNames, InputForm, type ToolView } from '#tool-sdk';
import type { Caller, Dialect, DialectTool } from './dialect.js';

/** A call of a dialect as the canonical call that it means. `tolerant`: the dialect leaves out arguments that it does not have. */
export interface UnderstoodCall {
  readonly ok: true;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly purpose: string | undefined;
  readonly hints: DialectHints | undefined;
  readonly timeoutMs: number | undefined;
}

export interface MisunderstoodCall {
  readonly ok: false;
  /** The canonical tool. Absent for a name that the dialect does not have. */
  readonly tool?: string;
  readonly kind: 'schema' | 'semantic';
  readonly code: 'not_found' | 'invalid_arguments';
  readonly message: string;
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
}

/** The names of one dialect, with their schemas compiled. */
export class DialectView {
  private readonly byName = new Map<string, { readonly tool: DialectTool; readonly form: InputForm }>();

  constructor(private readonly dialect: Dialect) {
    for (const tool of dialect.tools) {
      const { argumentAliases = {}, rawArgument } = tool;
      const form = new InputForm(tool.input, { aliases: argumentAliases, ...(rawArgument === undefined ? {} : { rawArgument }) });
      for (const name of [tool.name, ...(tool.aliases ?? [])]) {
        if (this.byName.has(name)) throw new Error(`Dialect ${dialect.name}: the name "${name}" is used twice`);
        this.byName.set(name, { tool, form });
      }
    }
  }

  /** Names and aliases. */
  names(): string[] {
    return [...this.byName.keys()];
  }

  find(name: string): DialectTool | undefined {
    return this.byName.get(name)?.tool;
  }

  /** The name of a canonical tool in the catalog of the dialect; undefined where it has none. */
  nameOf(canonical: string): string | undefined {
    const offered = this.dialect.tools.filter(({ hidden = false }) => !hidden);
    const found = offered.find(({ tool }) => tool === canonical) ?? offered.find(({ means = [] }) => means.includes(canonical));
    return found?.name;
  }

  /** The schema of its arguments. */
  schemaOf(name: string): JsonSchema | undefined {
    return this.byName.get(name)?.form.schema;
  }

  /** Never throws. */
  understand(name: string, raw: unknown, caller: Caller): UnderstoodCall | MisunderstoodCall {
    const entry = this.byName.get(name);
    if (entry === undefined) return { ok: false, kind: 'schema', code: 'not_found', message: `Tool not found: ${name}`, errors: [] };
    const { tool, form } = entry;
    const { strict = this.dialect.execution.strictArguments } = tool;
    const prepared = form.prepare(raw, !strict);
    if (!prepared.ok)
      return { ok: false, tool: tool.tool, kind: 'schema', code: 'invalid_arguments', message: prepared.message, errors: prepared.errors };
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they were checked against the schema that `adapt` is typed by
      const { hints, ...call } = tool.adapt(prepared.args as never, caller);
      return { ok: true, ...call, hints, timeoutMs: tool.timeoutMs, purpose: prepared.purpose };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { ok: false, tool: tool.tool, kind: 'semantic', code: 'invalid_arguments', message, errors: [{ pointer: '', message }] };
    }
  }

  /** Names of the dialect that were probably meant, best first, at most three. `isOffered`: whether the caller may use a canonical tool. */
  suggest(name: string, isOffered: (tool: string) => boolean = () => true): string[] {
    const offered = [...this.byName].flatMap(([near, { tool }]) => (isOffered(tool.tool) ? near : []));
    const found = closestNames(name, offered, 12).map((near) => this.byName.get(near)?.tool.name ?? near);
    return [...new Set(found)].slice(0, 3);
  }

  /** The dialect's tools that exist here, as the catalog of the agent has them: its names, schemas and descriptions. Sorted by name. */
  catalog(tools: readonly ToolDescriptor[]): ToolDescriptor[] {
    const canonical = new Map(tools.map((tool) => [tool.name, tool]));
    const own = this.dialect.tools.flatMap(({ name, aliases = [], tool, description, hidden = false }) => {
      const facts = canonical.get(tool);
      const form = this.byName.get(name)?.form;
      if (facts === undefined || form === undefined || hidden) return [];
      const { output: _output, ...rest } = facts;
      return [
        {
          ...rest,
          name,
          label: name,
          canonicalName: tool,
          description,
          aliases: [...aliases],
          input: form.schema,
          subjects: [],
          examples: [],
        },
      ];
    });
    return own.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** True for a tool of a source other than the built-in ones; dialects leave such tools unchanged. */
  isForeign(name: string, tools: Pick<ToolView, 'resolve'>): boolean {
    const tool = this.byName.has(name) ? undefined : tools.resolve(name);
    return tool !== undefined && tool.source !== 'builtin';
  }
}
