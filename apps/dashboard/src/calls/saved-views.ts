import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SavedView } from '#contracts';
import { notifyError } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';
import { readSearch, type CallSearch } from './call-search.js';
import { readView, type CallListView } from './call-view-search.js';

/** Filters, order and columns of a list of calls. */
export type ViewSearch = CallSearch & CallListView;

/** The list that a view shows; without fields that this page does not know. */
export function searchOfView({ search }: Pick<SavedView, 'search'>): ViewSearch {
  return { ...readSearch(search), ...readView(search) };
}

/** The fields of a list to be saved. The call beside the list is not part of a view. */
export function fieldsOfView({ peek: _peek, ...search }: ViewSearch): Record<string, string> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => typeof value === 'string'));
}

/** Views that the gateway stores for the key, or for the person who has signed in. Undefined until they are loaded. */
export function useSavedViews() {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const { data, error } = useQuery({ queryKey: ['views'], queryFn: ({ signal }) => client.views.list({ signal }) });
  const onSettled = () => void queries.invalidateQueries({ queryKey: ['views'] });
  const save = useMutation({
    mutationFn: ({ name, search }: { readonly name: string; readonly search: ViewSearch }) => client.views.put(name, fieldsOfView(search)),
    onError: (error) => notifyError('The view was not saved', error),
    onSettled,
  });
  const remove = useMutation({
    mutationFn: (name: string) => client.views.delete(name),
    onError: (error) => notifyError('The view was not removed', error),
    onSettled,
  });
  return { views: data, error, save: save.mutate, remove: remove.mutate };
}
