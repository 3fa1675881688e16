import { readdir } from 'node:fs/promises';
import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { BuiltinSource, type DecoratedTool } from './sources/builtin.source.js';
import { ToolMetadata, type AnyToolHandler } from './tool.decorator.js';
import { ToolRegistry } from './tool.registry.js';

const BUILTIN_FOLDER = new URL('./builtin/', import.meta.url);

export interface ToolsModuleOptions {
  /** What the constructors of built-in tools ask for. */
  readonly providers?: readonly Provider[];
  /** Further tool classes, beside those in `builtin/`. */
  readonly tools?: readonly Type[];
}

/** Every tool of this process. Every class in `builtin/*.tool.ts` is in; adding a tool is adding its file. */
@Module({})
export class ToolsModule {
  static async forRoot(options: ToolsModuleOptions = {}): Promise<DynamicModule> {
    return {
      module: ToolsModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [
        ...(options.providers ?? []),
        ...(await builtinClasses()),
        ...(options.tools ?? []),
        {
          provide: BuiltinSource,
          inject: [DiscoveryService],
          useFactory: (discovery: DiscoveryService) => new BuiltinSource(() => discover(discovery)),
        },
        { provide: ToolRegistry, inject: [BuiltinSource], useFactory: (builtin: BuiltinSource) => new ToolRegistry(builtin) },
      ],
      exports: [ToolRegistry],
    };
  }
}

/** The classes that the tool files export; a tool file without one stops the boot. One import after another: Jest's loader fails on imports that overlap. */
async function builtinClasses(): Promise<Type[]> {
  const files = (await readdir(BUILTIN_FOLDER)).filter((file) => /\.tool\.[jt]s$/.test(file)).sort();
  const classes: Type[] = [];
  for (const file of files) {
    const exported: unknown = await import(`./builtin/${file.replace(/\.ts$/, '.js')}`);
    const found = Object.values(exported ?? {}).filter(isToolClass);
    if (found.length === 0) throw new Error(`builtin/${file} exports no class with @Tool({...}): decorate and export it`);
    classes.push(...found);
  }
  return classes;
}

function discover(discovery: DiscoveryService): DecoratedTool[] {
  return discovery.getProviders({ metadataKey: ToolMetadata.KEY }).flatMap((wrapper) => {
    const options = discovery.getMetadataByDecorator(ToolMetadata, wrapper);
    const handler: unknown = wrapper.instance;
    if (!options) return [];
    if (!isHandler(handler)) throw new Error(`Tool "${options.name}" has no instance with a run method: provide its class, not a value`);
    return [{ options, handler }];
  });
}

function isToolClass(value: unknown): value is Type {
  return typeof value === 'function' && Reflect.hasMetadata(ToolMetadata.KEY, value);
}

function isHandler(value: unknown): value is AnyToolHandler {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function';
}
