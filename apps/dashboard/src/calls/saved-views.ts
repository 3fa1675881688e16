import { useLocalStorage } from '@mantine/hooks';
import { z } from 'zod';
import { readSearch, type CallSearch } from './call-search.js';
import { readView, type CallListView } from './call-view-search.js';

/** A list of calls with a name: filters, order and columns. */
export interface SavedView {
  readonly name: string;
  readonly search: CallSearch & CallListView;
}

const MOST_VIEWS = 50;
const Stored = z.array(z.object({ name: z.string().min(1).max(60), search: z.record(z.string(), z.string()) }));

/** Reads what is stored; what cannot be read is no view. */
export function parseViews(text: string | undefined): SavedView[] {
  try {
    return Stored.parse(JSON.parse(text ?? '[]')).map(({ name, search }) => ({
      name,
      search: { ...readSearch(search), ...readView(search) },
    }));
  } catch {
    return [];
  }
}

/** A view of the same name is replaced. The call beside the list is not part of a view. */
export function withView(views: readonly SavedView[], name: string, { peek: _peek, ...search }: CallSearch & CallListView): SavedView[] {
  return [{ name, search }, ...views.filter((view) => view.name !== name)].slice(0, MOST_VIEWS);
}

/** The views of this browser. */
export function useSavedViews() {
  const [views, setViews] = useLocalStorage<SavedView[]>({
    key: 'toolyard.views.calls',
    defaultValue: [],
    getInitialValueInEffect: false,
    deserialize: parseViews,
  });
  return {
    views,
    save: (name: string, search: CallSearch & CallListView) => setViews((known) => withView(known, name, search)),
    remove: (name: string) => setViews((known) => known.filter((view) => view.name !== name)),
  };
}
