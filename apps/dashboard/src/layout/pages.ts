import {
  IconActivity,
  IconAlertOctagon,
  IconChecklist,
  IconListDetails,
  IconMessages,
  IconServer2,
  IconTool,
  type TablerIcon,
} from '@tabler/icons-react';

/** The pages of the navigation, in order; `g` followed by `key` opens one. */
export const PAGES = [
  { to: '/live', label: 'Live', key: 'l', icon: IconActivity, about: 'What happens now' },
  { to: '/calls', label: 'Calls', key: 'c', icon: IconListDetails, about: 'All calls, filtered' },
  { to: '/approvals', label: 'Approvals', key: 'a', icon: IconChecklist, about: 'Calls that wait for a person' },
  { to: '/sessions', label: 'Sessions', key: 's', icon: IconMessages, about: 'What an agent did, as a tree' },
  { to: '/failures', label: 'Failures', key: 'f', icon: IconAlertOctagon, about: 'Those that look alike, together' },
  { to: '/tools', label: 'Tools', key: 't', icon: IconTool, about: 'The catalog, to try and to measure' },
  { to: '/workers', label: 'Workers', key: 'w', icon: IconServer2, about: 'Who is alive, and what waits' },
] as const satisfies readonly { to: string; label: string; key: string; icon: TablerIcon; about: string }[];
