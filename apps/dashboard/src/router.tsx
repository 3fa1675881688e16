import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { CallSearch } from './calls/call-search.js';
import { Shell } from './layout/shell.js';
import { NotFoundPage, PageFailed, PageLoading } from './layout/page-states.js';
import { WindowSearch } from './components/time-window.js';

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
    component: lazyRouteComponent(() => import('./live/live-page.js'), 'LivePage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/calls',
    validateSearch: CallSearch,
    component: lazyRouteComponent(() => import('./calls/calls-page.js'), 'CallsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/calls/$callId',
    component: lazyRouteComponent(() => import('./call/call-page.js'), 'CallPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/approvals',
    component: lazyRouteComponent(() => import('./approvals/approvals-page.js'), 'ApprovalsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/sessions',
    component: lazyRouteComponent(() => import('./sessions/sessions-page.js'), 'SessionsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/sessions/$sessionId',
    component: lazyRouteComponent(() => import('./sessions/session-page.js'), 'SessionPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/tools',
    validateSearch: WindowSearch,
    component: lazyRouteComponent(() => import('./tools/tools-page.js'), 'ToolsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/tools/$tool',
    component: lazyRouteComponent(() => import('./tools/tool-page.js'), 'ToolPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/workers',
    component: lazyRouteComponent(() => import('./workers/workers-page.js'), 'WorkersPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/failures',
    validateSearch: WindowSearch,
    component: lazyRouteComponent(() => import('./failures/failures-page.js'), 'FailuresPage'),
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
