import {
  IconActivity,
  IconAlertOctagon,
  IconCalendarTime,
  IconChecklist,
  IconKey,
  IconListDetails,
  IconMessages,
  IconPlugConnected,
  IconReportAnalytics,
  IconServer2,
  IconTool,
  type TablerIcon,
} from '@tabler/icons-react';
import type { Scope } from '#contracts';
import { useScopes } from '../stream/use-scopes.js';

/** The pages of the navigation, in order; `g` followed by `key` opens one. */
export const PAGES = [
  { to: '/live', label: 'Live', key: 'l', icon: IconActivity, about: 'What happens now' },
  { to: '/calls', label: 'Calls', key: 'c', icon: IconListDetails, about: 'All calls, filtered' },
  { to: '/approvals', label: 'Approvals', key: 'a', icon: IconChecklist, about: 'Calls that wait for a person' },
  { to: '/sessions', label: 'Sessions', key: 's', icon: IconMessages, about: 'What an agent did, as a tree' },
  { to: '/failures', label: 'Failures', key: 'f', icon: IconAlertOctagon, about: 'Those that look alike, together' },
  { to: '/tools', label: 'Tools', key: 't', icon: IconTool, about: 'The catalog, to try and to measure' },
  { to: '/sources', label: 'Sources', key: 'o', icon: IconPlugConnected, about: 'Where tools come from', scope: 'admin' },
  { to: '/schedules', label: 'Schedules', key: 'd', icon: IconCalendarTime, about: 'Calls at due times' },
  { to: '/workers', label: 'Workers', key: 'w', icon: IconServer2, about: 'Who is alive, and what waits' },
  { to: '/usage', label: 'Usage', key: 'u', icon: IconReportAnalytics, about: 'What agents and tools used' },
  { to: '/keys', label: 'Keys', key: 'k', icon: IconKey, about: 'What programs call with', scope: 'admin' },
] as const satisfies readonly { to: string; label: string; key: string; icon: TablerIcon; about: string; scope?: Scope }[];

/** Pages that the key may open. */
export function usePages() {
  const { lacks } = useScopes();
  return PAGES.filter((page) => !('scope' in page) || lacks(page.scope) === undefined);
}
