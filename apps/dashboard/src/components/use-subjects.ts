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

function useCatalog<T>(select: (tools: ToolDescriptor[]) => T): T | undefined {
  const { client } = useToolyard();
  const { data } = useQuery({
    queryKey: ['tools'],
    queryFn: ({ signal }) => client.tools.list({}, { signal }),
    staleTime: 60_000,
    select,
  });
  return data;
}
