import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { ToolDescriptor, Violation } from '#contracts';
import { descriptorProblems, LONG_DESCRIPTION_CHARACTERS } from './tool-descriptor.js';
import type { ToolSource } from '../tool-source.port.js';
import { argumentShape, type ArgumentShape } from '../validation/argument-shape.js';
import { closestNames } from '../validation/suggest.js';
import { prepareArguments } from '../validation/prepare-arguments.js';
import { compileSchema, type Check } from '../validation/schema-compiler.js';

export type ValidatedCall =
  | { readonly ok: true; readonly tool: ToolDescriptor; readonly args: Record<string, unknown>; readonly purpose?: string }
  | { readonly ok: false; readonly tool?: ToolDescriptor; readonly failure: ValidationFailure };

/** `message` is ready for the model. */
export interface ValidationFailure {
  readonly code: 'not_found' | 'invalid_arguments';
  readonly message: string;
  readonly errors: Violation[];
}

interface Entry {
  readonly tool: ToolDescriptor;
  readonly source: ToolSource;
  readonly shape: ArgumentShape;
  readonly check: Check;
  readonly checkOutput?: Check;
}

/** Every tool this process knows, whatever its source; schemas are compiled when a source is added and never on a call. */
export class ToolRegistry implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(ToolRegistry.name);
  private readonly sources = new Map<string, { source: ToolSource; entries: Entry[]; stop: () => void }>();
  private byName = new Map<string, Entry>();
  private sorted: readonly ToolDescriptor[] = [];

  /** `first` is added when the application starts. */
  constructor(private readonly initialSource: ToolSource) {}

  onModuleInit(): void {
    this.add(this.initialSource);
  }

  async onApplicationShutdown(): Promise<void> {
    for (const { source, stop } of this.sources.values()) {
      stop();
      await source.close();
    }
    this.sources.clear();
  }

  /** Throws one message that lists every fault of the source's tools, each with its fix; then none of them is registered. */
  add(source: ToolSource): void {
    if (this.sources.has(source.name)) throw new Error(`Source "${source.name}" is registered already: give each source its own name`);
    const entries = this.load(source);
    const stop = source.onChange(() => this.refresh(source));
    this.sources.set(source.name, { source, entries, stop });
    this.index();
  }

  resolve(nameOrAlias: string): ToolDescriptor | undefined {
    return this.byName.get(nameOrAlias)?.tool;
  }

  /** Canonical names that were probably meant, best first, at most three. */
  suggest(name: string): string[] {
    const found = closestNames(name, this.byName.keys(), 12).map((match) => this.byName.get(match)?.tool.name ?? match);
    return [...new Set(found)].slice(0, 3);
  }

  /** Sorted by name. The same array until a source changes. */
  list(): readonly ToolDescriptor[] {
    return this.sorted;
  }

  /** Name and arguments as a model sent them → the tool and arguments it can run with, or why not. `tolerant`: unknown arguments are left out. Never throws. */
  validateArguments(name: string, rawArguments: Readonly<Record<string, unknown>> | string, tolerant = false): ValidatedCall {
    const entry = this.byName.get(name);
    if (!entry) return { ok: false, failure: this.notFound(name) };
    const { tool } = entry;
    const prepared = prepareArguments(rawArguments, entry.shape, entry.check, tolerant);
    if (!prepared.ok)
      return { ok: false, tool, failure: { code: 'invalid_arguments', message: prepared.message, errors: prepared.errors } };
    const wrong = entry.source.check?.(tool.name, prepared.args);
    if (wrong !== undefined)
      return { ok: false, tool, failure: { code: 'invalid_arguments', message: wrong.message, errors: [...(wrong.options.errors ?? [])] } };
    return { ok: true, tool, args: prepared.args, ...(prepared.purpose === undefined ? {} : { purpose: prepared.purpose }) };
  }

  /** How a structured result breaks the tool's output schema; empty when it fits or when there is none. */
  checkOutput(name: string, structuredContent: unknown): Violation[] {
    return this.byName.get(name)?.checkOutput?.(structuredClone(structuredContent)) ?? [];
  }

  /** The source that runs a tool, by its name or an alias. Throws for an unknown tool: resolve it first. */
  source(name: string): ToolSource {
    const entry = this.byName.get(name);
    if (!entry) throw new Error(this.notFound(name).message);
    return entry.source;
  }

  private notFound(name: string): ValidationFailure {
    const near = this.suggest(name);
    const hint = near.length > 0 ? `\nDid you mean: ${near.join(', ')}?` : '';
    return { code: 'not_found', message: `Tool not found: ${name}${hint}`, errors: [] };
  }

  private load(source: ToolSource): Entry[] {
    const faults: string[] = [];
    const entries: Entry[] = [];
    const taken = new Map(
      [...this.byName].filter(([, entry]) => entry.source.name !== source.name).map(([name, { tool }]) => [name, tool]),
    );
    for (const tool of source.list()) {
      const found = [...descriptorProblems(tool), ...duplicateNames(tool, taken)];
      for (const name of [tool.name, ...tool.aliases]) taken.set(name, tool);
      try {
        entries.push(this.entry(tool, source));
      } catch (error) {
        found.push(`its schema cannot be checked: ${error instanceof Error ? error.message : String(error)}`);
      }
      faults.push(...found.map((fault) => `Tool "${tool.name}" of source "${source.name}": ${fault}`));
    }
    if (faults.length > 0) throw new Error(faults.join('\n'));
    return entries;
  }

  private entry(tool: ToolDescriptor, source: ToolSource): Entry {
    if (tool.description.length > LONG_DESCRIPTION_CHARACTERS) {
      this.logger.warn(
        `Description of tool "${tool.name}" has ${tool.description.length} characters; models read at most ${LONG_DESCRIPTION_CHARACTERS} well`,
      );
    }
    return {
      tool,
      source,
      shape: argumentShape(tool.input, source.argumentHints?.(tool.name)),
      check: compileSchema(tool.input),
      ...(tool.output ? { checkOutput: compileSchema(tool.output) } : {}),
    };
  }

  /** A source whose tools become invalid keeps its last valid tools. Logs instead of throwing, since no caller waits for it. */
  private refresh(source: ToolSource): void {
    const added = this.sources.get(source.name);
    if (!added) return;
    try {
      added.entries = this.load(source);
      this.index();
    } catch (error) {
      this.logger.warn(
        `Source "${source.name}" changed and cannot be used as it is; its former tools stay. ${error instanceof Error ? error.message : ''}`,
      );
    }
  }

  private index(): void {
    const entries = [...this.sources.values()].flatMap((added) => added.entries);
    this.byName = new Map(entries.flatMap((entry) => [entry.tool.name, ...entry.tool.aliases].map((name) => [name, entry] as const)));
    this.sorted = entries.map(({ tool }) => tool).sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

function duplicateNames(tool: ToolDescriptor, taken: ReadonlyMap<string, ToolDescriptor>): string[] {
  return [tool.name, ...tool.aliases].flatMap((name, index, all) => {
    const owner = taken.get(name) ?? (all.indexOf(name) < index ? tool : undefined);
    return owner ? [`the name "${name}" belongs to tool "${owner.name}" of source "${owner.source}" already: rename one of them`] : [];
  });
}
