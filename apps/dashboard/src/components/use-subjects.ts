import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { ToolDescriptor, ToolSubject } from '#contracts';
import { useToolyard } from '../stream/toolyard.js';

const NONE: readonly ToolSubject[] = [];

/** The subject arguments of a tool; none until the catalog is loaded, or for a tool that is not in it. */
export function useSubjects(tool: string): readonly ToolSubject[] {
  return useTool(tool)?.subjects ?? NONE;
}

/** The same for the tools of a long list: one query for all its rows. */
export function useSubjectsOf(): (tool: string) => readonly ToolSubject[] {
  const tools = useCatalog((all) => all);
  return useCallback((tool) => tools?.find(({ name }) => name === tool)?.subjects ?? NONE, [tools]);
}

/** A tool of the catalog. */
export function useTool(tool: string): ToolDescriptor | undefined {
  return useCatalog((tools) => tools.find(({ name }) => name === tool));
}

/** True while the catalog loads for the first time: a view of arguments may change its height afterwards. */
export function useIsCatalogLoading(): boolean {
  return useCatalogQuery(() => true).isLoading;
}

function useCatalog<T>(select: (tools: ToolDescriptor[]) => T): T | undefined {
  return useCatalogQuery(select).data;
}

function useCatalogQuery<T>(select: (tools: ToolDescriptor[]) => T) {
  const { client } = useToolyard();
  return useQuery({
    queryKey: ['tools'],
    queryFn: ({ signal }) => client.tools.list({}, { signal }),
    staleTime: 60_000,
    select,
  });
}
