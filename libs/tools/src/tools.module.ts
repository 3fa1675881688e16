import { readdir } from 'node:fs/promises';
import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { type AnyToolHandler, BuiltinSource, type DecoratedTool, ToolRegistry, toolOptionsOf } from '#tool-sdk';

const HERE = new URL('./', import.meta.url);

export interface ToolsModuleOptions {
  /** Providers for the constructors of built-in tools. */
  readonly providers?: readonly Provider[];
  /** Further tool classes, besides those of this library. */
  readonly tools?: readonly Type[];
}

/** All tools of a process. Every class in `<family>/*.tool.ts` is included: a new tool is a new file. */
@Module({})
export class ToolsModule {
  static async forRoot(options: ToolsModuleOptions = {}): Promise<DynamicModule> {
    const builtin = await builtinClasses();
    const shipped = new Set(builtin.flatMap((tool) => toolOptionsOf(tool)?.name ?? []));
    return {
      module: ToolsModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [
        ...(options.providers ?? []),
        ...builtin,
        ...(options.tools ?? []),
        {
          provide: BuiltinSource,
          inject: [DiscoveryService],
          useFactory: (discovery: DiscoveryService) => new BuiltinSource(() => discover(discovery), shipped),
        },
        { provide: ToolRegistry, inject: [BuiltinSource], useFactory: (builtin: BuiltinSource) => new ToolRegistry(builtin) },
      ],
      exports: [ToolRegistry],
    };
  }
}

/**
 * The classes that the tool files export. The imports run one after another: Jest's loader fails on imports that overlap.
 * @throws Error for a tool file without a decorated class
 */
async function builtinClasses(): Promise<Type[]> {
  const files = (await readdir(HERE, { recursive: true })).filter((file) => /^[^/]+\/[^/]+\.tool\.[jt]s$/.test(file)).sort();
  const classes: Type[] = [];
  for (const file of files) {
    const exported: unknown = await import(`./${file.replace(/\.ts$/, '.js')}`);
    const found = Object.values(exported ?? {}).filter(isToolClass);
    if (found.length === 0) throw new Error(`${file} exports no class with @Tool({...}): decorate and export it`);
    classes.push(...found);
  }
  return classes;
}

function discover(discovery: DiscoveryService): DecoratedTool[] {
  return discovery.getProviders().flatMap((wrapper) => {
    const options = toolOptionsOf(wrapper.metatype);
    const handler: unknown = wrapper.instance;
    if (!options) return [];
    if (!isHandler(handler)) throw new Error(`Tool "${options.name}" has no instance with a run method: provide its class, not a value`);
    return [{ options, handler }];
  });
}

function isToolClass(value: unknown): value is Type {
  return toolOptionsOf(value) !== undefined;
}

function isHandler(value: unknown): value is AnyToolHandler {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function';
}
