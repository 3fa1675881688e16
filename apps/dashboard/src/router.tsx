import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { z } from 'zod';
import { GROUPINGS } from './approvals/inbox-order.js';
import { CallTab } from './call/call-tab.js';
import { readSearch, type CallSearch } from './calls/call-search.js';
import { readView, type CallListView } from './calls/call-view-search.js';
import { Shell } from './layout/shell.js';
import { pageOf } from './layout/page-of.js';
import { NotFoundPage, PageFailed, PageLoading } from './layout/page-states.js';
import { ToolsSearch } from './tools/tools-search.js';
import { UsageSearch } from './usage/usage-search.js';
import { FailureSearch } from './failures/failure-search.js';
import { WindowSearch } from './components/time-window.js';

const InboxSearch = z.object({
  group: z.enum(GROUPINGS).optional().catch(undefined),
  sort: z.literal('risk').optional().catch(undefined),
  q: z.string().optional().catch(undefined),
});

const root = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage });
const parent = () => root;

const routes = [
  createRoute({
    getParentRoute: parent,
    path: '/',
    beforeLoad: () => {
      // oxlint-disable-next-line typescript/only-throw-error -- the router redirects by a thrown value
      throw redirect({ to: '/live' });
    },
  }),
  createRoute({
    getParentRoute: parent,
    path: '/live',
    validateSearch: WindowSearch,
    component: pageOf(() => import('./live/live-page.js'), 'LivePage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/calls',
    validateSearch: (search): CallSearch & CallListView => ({ ...readSearch(search), ...readView(search) }),
    component: pageOf(() => import('./calls-page/calls-page.js'), 'CallsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/calls/$callId',
    validateSearch: z.object({ tab: CallTab.optional().catch(undefined), batch: z.literal('folded').optional().catch(undefined) }),
    component: pageOf(() => import('./call/call-page.js'), 'CallPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/approvals',
    validateSearch: InboxSearch,
    component: pageOf(() => import('./approvals/approvals-page.js'), 'ApprovalsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/approvals/$callId',
    validateSearch: InboxSearch,
    component: pageOf(() => import('./approvals/approvals-page.js'), 'ApprovalsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/sessions',
    validateSearch: z.object({ q: z.string().optional().catch(undefined), agentId: z.string().optional().catch(undefined) }),
    component: pageOf(() => import('./sessions/sessions-page.js'), 'SessionsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/sessions/$sessionId',
    validateSearch: z.object({ call: z.string().optional().catch(undefined), batches: z.literal('folded').optional().catch(undefined) }),
    component: pageOf(() => import('./sessions/session-page.js'), 'SessionPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/tools',
    validateSearch: ToolsSearch,
    component: pageOf(() => import('./tools/tools-page.js'), 'ToolsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/tools/$tool',
    component: pageOf(() => import('./tools/tool-page.js'), 'ToolPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/workers',
    component: pageOf(() => import('./workers/workers-page.js'), 'WorkersPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/sources',
    validateSearch: z.object({ show: z.string().optional().catch(undefined) }),
    component: pageOf(() => import('./sources/sources-page.js'), 'SourcesPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/sources/new',
    validateSearch: z.object({ kind: z.enum(['mcp', 'bundle', 'openapi', 'agent', 'json']).optional().catch(undefined) }),
    component: pageOf(() => import('./sources/new-source-page.js'), 'NewSourcePage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/sources/$source',
    component: pageOf(() => import('./sources/source-page.js'), 'SourcePage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/authorized/$issuer',
    component: pageOf(() => import('./sources/authorized-page.js'), 'AuthorizedPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/schedules',
    component: pageOf(() => import('./schedules/schedules-page.js'), 'SchedulesPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/schedules/new',
    validateSearch: z.object({ tool: z.string().optional().catch(undefined) }),
    component: pageOf(() => import('./schedules/new-schedule-page.js'), 'NewSchedulePage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/schedules/$scheduleId',
    component: pageOf(() => import('./schedules/schedule-page.js'), 'SchedulePage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/failures',
    validateSearch: FailureSearch,
    component: pageOf(() => import('./failures/failures-page.js'), 'FailuresPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/usage',
    validateSearch: UsageSearch,
    component: pageOf(() => import('./usage/usage-page.js'), 'UsagePage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/keys',
    validateSearch: z.object({ ended: z.literal('shown').optional().catch(undefined) }),
    component: pageOf(() => import('./keys/keys-page.js'), 'KeysPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/keys/new',
    component: pageOf(() => import('./keys/new-key-page.js'), 'NewKeyPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/docs',
    component: pageOf(() => import('./api-reference/reference-page.js'), 'ReferencePage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/docs/$operationId',
    component: pageOf(() => import('./api-reference/reference-page.js'), 'ReferencePage'),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: 'intent',
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageFailed,
  // Plain `?tool=shell&status=running`: a link that a person can read and change.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(Object.entries(search).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])));
    return text.size === 0 ? '' : `?${text.toString()}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
