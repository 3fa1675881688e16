import type { Dialect as DialectName } from '#contracts';
import { DialectView } from './dialect-view.js';
import { dialectOf } from './dialects.js';

const views = new Map<string, DialectView>();

/** Compiled at its first use. */
export function viewOf(name: Exclude<DialectName, 'core'>): DialectView {
  let view = views.get(name);
  if (view === undefined) views.set(name, (view = new DialectView(dialectOf(name))));
  return view;
}
