import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { ToolDescriptor, Violation } from '#contracts';
import { descriptorProblems, LONG_DESCRIPTION_CHARACTERS } from './tool-descriptor.js';
import type { TenantSources, ToolSource } from '../tool-source.port.js';
import { compiledEntry, foreignEntry, shippedEntry, type ToolEntry } from './tool-entry.js';
import { ToolView, type ValidatedCall } from './tool-view.js';

/**
 * Every tool this process knows, whatever its source. The methods of the registry itself know the tools that exist for all
 * tenants whatever happens; `for` adds those of a tenant's sources. Schemas of the former are compiled when their source is
 * added and never on a call, but for tools that the product ships.
 */
export class ToolRegistry implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(ToolRegistry.name);
  private readonly sources = new Map<string, { source: ToolSource; entries: ToolEntry[]; stop: () => void }>();
  private ofAll = new ToolView([]);
  /** Names that no source of a tenant takes. */
  private taken: ReadonlySet<string> = new Set();
  private tenantSources: TenantSources | undefined;
  private views = new WeakMap<readonly ToolSource[], ToolView>();

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
    await this.tenantSources?.close();
  }

  /** Throws one message that lists every fault of the source's tools, each with its fix; then none of them is registered. */
  add(source: ToolSource): void {
    if (this.sources.has(source.name)) throw new Error(`Source "${source.name}" is registered already: give each source its own name`);
    const entries = this.load(source);
    const stop = source.onChange(() => this.reload(source));
    this.sources.set(source.name, { source, entries, stop });
    this.index();
  }

  /** Adds dynamic sources by tenant, closed with the registry. */
  attach(sources: TenantSources): void {
    this.tenantSources = sources;
  }

  /** The tools that exist for a tenant now. The same object until one of its sources changes. */
  for(tenantId: string): ToolView {
    const sources = this.tenantSources?.of(tenantId, this.taken) ?? [];
    if (sources.length === 0) return this.ofAll;
    let view = this.views.get(sources);
    if (view === undefined) {
      const foreign = sources.flatMap((source) => source.list().map((tool) => foreignEntry(tool, source)));
      view = new ToolView([...this.entries(), ...foreign]);
      this.views.set(sources, view);
    }
    return view;
  }

  /** Learns at once what changed in the sources of tenants. Never rejects. */
  async refresh(): Promise<void> {
    await this.tenantSources?.refresh();
  }

  resolve(nameOrAlias: string): ToolDescriptor | undefined {
    return this.ofAll.resolve(nameOrAlias);
  }

  /** Canonical names that were probably meant, best first, at most three. */
  suggest(name: string): string[] {
    return this.ofAll.suggest(name);
  }

  /** Sorted by name. The same array until a source changes. */
  list(): readonly ToolDescriptor[] {
    return this.ofAll.list();
  }

  /** Same as `ToolView.validateArguments`. */
  validateArguments(name: string, rawArguments: Readonly<Record<string, unknown>> | string, tolerant = false): ValidatedCall {
    return this.ofAll.validateArguments(name, rawArguments, tolerant);
  }

  /** Violations of the tool's output schema by a structured result; empty if the result is valid or without a schema. */
  checkOutput(name: string, structuredContent: unknown): Violation[] {
    return this.ofAll.checkOutput(name, structuredContent);
  }

  /** The source that runs a tool, by its name or an alias. Throws for an unknown tool: resolve it first. */
  source(name: string): ToolSource {
    return this.ofAll.source(name);
  }

  private load(source: ToolSource): ToolEntry[] {
    const faults: string[] = [];
    const entries: ToolEntry[] = [];
    const taken = new Map<string, ToolDescriptor>(
      this.entries()
        .filter((entry) => entry.source.name !== source.name)
        .flatMap(({ tool }) => [tool.name, ...tool.aliases].map((name): [string, ToolDescriptor] => [name, tool])),
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

  private entry(tool: ToolDescriptor, source: ToolSource): ToolEntry {
    if (tool.description.length > LONG_DESCRIPTION_CHARACTERS) {
      this.logger.warn(
        `Description of tool "${tool.name}" has ${tool.description.length} characters; models read at most ${LONG_DESCRIPTION_CHARACTERS} well`,
      );
    }
    return source.isShipped?.(tool.name) === true ? shippedEntry(tool, source) : compiledEntry(tool, source);
  }

  /** A source whose tools become invalid keeps its last valid tools. Logs instead of throwing, since no caller waits for it. */
  private reload(source: ToolSource): void {
    const added = this.sources.get(source.name);
    if (!added) return;
    try {
      added.entries = this.load(source);
      this.index();
    } catch (error) {
      this.logger.warn(
        `Source "${source.name}" changed and is now invalid; its last valid tools are kept. ${error instanceof Error ? error.message : ''}`,
      );
    }
  }

  private entries(): ToolEntry[] {
    return [...this.sources.values()].flatMap((added) => added.entries);
  }

  private index(): void {
    this.ofAll = new ToolView(this.entries());
    this.taken = new Set(this.ofAll.names());
    this.views = new WeakMap();
  }
}

function duplicateNames(tool: ToolDescriptor, taken: ReadonlyMap<string, ToolDescriptor>): string[] {
  return [tool.name, ...tool.aliases].flatMap((name, index, all) => {
    const owner = taken.get(name) ?? (all.indexOf(name) < index ? tool : undefined);
    return owner ? [`the name "${name}" belongs to tool "${owner.name}" of source "${owner.source}" already: rename one of them`] : [];
  });
}
