import type { Outage } from './feed.js';
import { useFrames } from './frame-store.js';
import { useToolyard } from './toolyard.js';

/** Why decisions are off while the connection is lost. */
export const OUTAGE_TEXT = 'No connection to the gateway: what is shown may be old.';

/** Undefined while the event stream is live. */
export function useOutage(): Outage | undefined {
  const { feed } = useToolyard();
  useFrames(feed);
  return feed.outage;
}
