import type { ToolDescriptor, Violation } from '#contracts';
import type { ToolSource } from '../tool-source.port.js';
import { closestNames } from '../validation/suggest.js';
import { prepareArguments } from '../validation/prepare-arguments.js';
import type { ToolEntry } from './tool-entry.js';

export type ValidatedCall =
  | { readonly ok: true; readonly tool: ToolDescriptor; readonly args: Record<string, unknown>; readonly purpose?: string }
  | { readonly ok: false; readonly tool?: ToolDescriptor; readonly failure: ValidationFailure };

/** `message` is ready for the model. */
export interface ValidationFailure {
  readonly code: 'not_found' | 'invalid_arguments';
  readonly message: string;
  readonly errors: Violation[];
}

/** Tools of one tenant. Immutable: a change creates a new view. */
export class ToolView {
  private readonly byName: ReadonlyMap<string, ToolEntry>;
  private readonly sorted: readonly ToolDescriptor[];

  /** Keeps the first of two entries with the same name. */
  constructor(entries: readonly ToolEntry[]) {
    const named = entries.flatMap((entry) => [entry.tool.name, ...entry.tool.aliases].map((name) => [name, entry] as const));
    this.byName = new Map(named.toReversed());
    this.sorted = entries.map(({ tool }) => tool).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Names and aliases. */
  names(): Iterable<string> {
    return this.byName.keys();
  }

  resolve(nameOrAlias: string): ToolDescriptor | undefined {
    return this.byName.get(nameOrAlias)?.tool;
  }

  /**
   * Canonical names that were probably meant, best first, at most three. `isOffered`: whether the caller may use a tool; the
   * others are not named.
   */
  suggest(name: string, isOffered: (tool: ToolDescriptor) => boolean = () => true): string[] {
    const offered = [...this.byName].flatMap(([near, { tool }]) => (isOffered(tool) ? near : []));
    const found = closestNames(name, offered, 12).map((match) => this.byName.get(match)?.tool.name ?? match);
    return [...new Set(found)].slice(0, 3);
  }

  /** Sorted by name. */
  list(): readonly ToolDescriptor[] {
    return this.sorted;
  }

  /**
   * Name and arguments as a model sent them → the tool and arguments it can run with, or why not. `tolerant`: unknown arguments
   * are left out. Never throws.
   */
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
    const args = entry.source.complete?.(tool.name, prepared.args) ?? prepared.args;
    return { ok: true, tool, args, ...(prepared.purpose === undefined ? {} : { purpose: prepared.purpose }) };
  }

  /** Violations of the tool's output schema by a structured result; empty if the result is valid or without a schema. */
  checkOutput(name: string, structuredContent: unknown): Violation[] {
    return this.byName.get(name)?.checkOutput?.(structuredClone(structuredContent)) ?? [];
  }

  /** The source that runs a tool, by its name or an alias. Throws for an unknown tool: resolve it first. */
  source(name: string): ToolSource {
    const entry = this.byName.get(name);
    if (!entry) throw new Error(this.notFound(name).message);
    return entry.source;
  }

  /** Failure for a name without a runnable tool. `isOffered`: as for `suggest`. */
  notFound(name: string, isOffered?: (tool: ToolDescriptor) => boolean): ValidationFailure {
    const near = this.suggest(name, isOffered);
    const hint = near.length > 0 ? `\nDid you mean: ${near.join(', ')}?` : '';
    return { code: 'not_found', message: `Tool not found: ${name}${hint}`, errors: [] };
  }
}
