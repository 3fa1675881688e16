import { keepPreviousData, useQuery } from '@tanstack/react-query';
import {
  CallOutcome,
  CallStatus,
  POOLS,
  ResultKind,
  Risk,
  type CallFacets,
  type CallFilterInput,
  type FacetField,
  type ToolDescriptor,
} from '#contracts';
import { groupBy } from '../components/group-by.js';
import { useToolyard } from '../stream/toolyard.js';
import { resultLabel, stateLabel } from './call-labels.js';
import { filterOf, listOf, readFilter, type CallSearch } from './call-search.js';
import { FacetMenu, type FacetChoice } from './facet-menu.js';

interface FacetFiltersProps {
  readonly search: CallSearch;
  readonly set: (name: keyof CallSearch, value: string | undefined) => void;
  /** Filters of a group: the most used ones, or the others. */
  readonly part: 'main' | 'more';
}

/** Age after which counts are reloaded; rows move at once. */
const ASK_MS = 10_000;

/** Filters of the list, with the number of calls of each value. */
export function FacetFilters({ search, set, part }: FacetFiltersProps) {
  const { client } = useToolyard();
  const { data: tools = [] } = useQuery({
    queryKey: ['tools'],
    queryFn: ({ signal }) => client.tools.list({}, { signal }),
    staleTime: 60_000,
  });
  const facets = useFacets(search);
  const menu = (name: keyof CallSearch & FacetField, label: string, values: readonly string[], labelOf?: (value: string) => string) => (
    <FacetMenu
      name={label}
      choices={choicesOf(facets?.[name], values, labelOf)}
      chosen={listOf(search[name])}
      onChange={(chosen) => set(name, chosen.join(','))}
    />
  );
  if (part === 'more')
    return (
      <>
        <SourceMenu tools={tools} facets={facets} search={search} set={set} />
        {menu('pool', 'Pool', POOLS)}
        {menu('risk', 'Risk', Risk.options)}
      </>
    );
  return (
    <>
      {menu('status', 'Status', CallStatus.options, stateLabel)}
      {menu('outcome', 'Outcome', CallOutcome.options, stateLabel)}
      <FacetMenu
        name="Result"
        choices={ResultKind.options.map((value) => ({ value, label: resultLabel(value) }))}
        chosen={listOf(search.result)}
        onChange={(chosen) => set('result', chosen.join(','))}
      />
      {menu('tool', 'Tool', [])}
      {menu('agentId', 'Agent', [])}
      {menu('sessionId', 'Session', [])}
    </>
  );
}

function useFacets(search: CallSearch): CallFacets | undefined {
  const { client } = useToolyard();
  const { data } = useQuery({
    queryKey: ['facets', search],
    queryFn: ({ signal }) => client.calls.facets(filterOf(search, Date.now()) satisfies CallFilterInput, { signal }),
    enabled: 'filter' in readFilter(search, 0),
    placeholderData: keepPreviousData,
    refetchInterval: ASK_MS,
  });
  return data;
}

/** Values that calls have, most calls first, then the other possible ones. */
function choicesOf(
  counted: CallFacets[FacetField] | undefined,
  possible: readonly string[],
  labelOf = (value: string) => value,
): FacetChoice[] {
  const known = new Set(counted?.map(({ value }) => value));
  const none = counted === undefined ? undefined : 0;
  return [...(counted ?? []), ...possible.filter((value) => !known.has(value)).map((value) => ({ value, count: none }))].map(
    ({ value, count }) => ({
      value,
      label: labelOf(value),
      count,
    }),
  );
}

interface SourceMenuProps extends Omit<FacetFiltersProps, 'part'> {
  readonly tools: readonly ToolDescriptor[];
  readonly facets: CallFacets | undefined;
}

/** Sources of the catalog: the filter has the tools of the chosen ones. */
function SourceMenu({ tools, facets, search, set }: SourceMenuProps) {
  const wanted = listOf(search.tool);
  const sources = groupBy(tools, ({ source }) => source);
  const countOf = new Map(facets?.tool.map(({ value, count }) => [value, count]));
  const chosen = [...sources].filter(([, list]) => list.every(({ name }) => wanted.includes(name))).map(([source]) => source);
  return (
    <FacetMenu
      name="Source"
      choices={[...sources].map(([value, list]) => ({
        value,
        count: facets === undefined ? undefined : list.reduce((sum, { name }) => sum + (countOf.get(name) ?? 0), 0),
      }))}
      chosen={chosen}
      onChange={(next) => set('tool', next.flatMap((source) => (sources.get(source) ?? []).map(({ name }) => name)).join(','))}
    />
  );
}
