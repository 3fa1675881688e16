import { useQuery } from '@tanstack/react-query';
import type { ToolDescriptor, ToolSubject } from '#contracts';
import { useToolyard } from '../stream/toolyard.js';

const NONE: readonly ToolSubject[] = [];

/** The subject arguments of a tool; none until the catalog is loaded, or for a tool that is not in it. */
export function useSubjects(tool: string): readonly ToolSubject[] {
  return useTool(tool)?.subjects ?? NONE;
}

/** A tool of the catalog. */
export function useTool(tool: string): ToolDescriptor | undefined {
  const { client } = useToolyard();
  const { data } = useQuery({
    queryKey: ['tools'],
    queryFn: ({ signal }) => client.tools.list({}, { signal }),
    staleTime: 60_000,
    select: (tools: ToolDescriptor[]) => tools.find(({ name }) => name === tool),
  });
  return data;
}
