import {
  ActionIcon,
  AppShell,
  Badge,
  Burger,
  Group,
  Kbd,
  ScrollArea,
  Text,
  Tooltip,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconApi, IconMoon, IconSearch, IconSun } from '@tabler/icons-react';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApprovalNotices } from '../approvals/approval-notices.js';
import { PendingDecisionsBar } from '../approvals/pending-decisions-bar.js';
import { LinkNav } from '../components/links.js';
import { useOutage } from '../stream/use-outage.js';
import { useApprovalsWaiting } from '../stream/use-approvals-waiting.js';
import { ConnectionBadge } from './connection-badge.js';
import { KeysHelp } from './keys-help.js';
import { OUTAGE_BAR_PX, OutageBar } from './outage-bar.js';
import { usePages } from './pages.js';
import { openSearch, Search } from './search.js';
import { UserMenu } from './user-menu.js';
import classes from './shell.module.css';

const HEADER_PX = 52;

/** The frame of every page: navigation, search, and the state of the event stream. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  const pages = usePages();
  const outage = useOutage();
  useEffect(close, [pathname, close]);

  return (
    <AppShell
      header={{ height: outage ? HEADER_PX + OUTAGE_BAR_PX : HEADER_PX }}
      navbar={{ width: 212, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a href="#main" className={classes.skip}>
        Skip to the content
      </a>
      <AppShell.Header>
        <Group h={HEADER_PX} px="md" justify="space-between" wrap="nowrap" gap="sm">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <Link to="/live" className={classes.brand} aria-label="Toolyard">
              <img src="/favicon.svg" width={24} height={24} alt="" />
              <Text span fw={700} visibleFrom="xs">
                Toolyard
              </Text>
            </Link>
          </Group>
          <UnstyledButton className={classes.search} onClick={openSearch}>
            <IconSearch size={16} aria-hidden />
            <Text span size="sm" className={classes.searchText}>
              Find a session, agent, tool, call …
            </Text>
            <Kbd size="xs" visibleFrom="sm" aria-hidden>
              /
            </Kbd>
          </UnstyledButton>
          <Group gap="xs" wrap="nowrap">
            <ConnectionBadge />
            <SchemeToggle />
            <UserMenu />
          </Group>
        </Group>
        {outage && <OutageBar {...outage} />}
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <AppShell.Section grow component={ScrollArea}>
          {pages.map(({ to, label, icon: Icon }) => (
            <LinkNav
              key={to}
              to={to}
              label={label}
              active={pathname.startsWith(to)}
              leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
              {...(to === '/approvals' ? { rightSection: <ApprovalsWaiting /> } : {})}
              {...(pathname.startsWith(to) ? { 'aria-current': 'page' as const } : {})}
            />
          ))}
        </AppShell.Section>
        <AppShell.Section>
          <LinkNav
            to="/docs"
            label="API reference"
            active={pathname.startsWith('/docs')}
            leftSection={<IconApi size={18} stroke={1.6} aria-hidden />}
            {...(pathname.startsWith('/docs') ? { 'aria-current': 'page' as const } : {})}
          />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} className={classes.main} data-away={outage && true}>
        <Outlet />
      </AppShell.Main>
      <PendingDecisionsBar />
      <ApprovalNotices />
      <Search />
      <KeysHelp />
    </AppShell>
  );
}

function ApprovalsWaiting() {
  const waitingApproval = useApprovalsWaiting();
  return waitingApproval === 0 ? null : (
    <Badge size="sm" circle={waitingApproval < 10} color="#b34700" variant="filled" aria-label={`${waitingApproval} waiting`}>
      {waitingApproval > 99 ? '99+' : waitingApproval}
    </Badge>
  );
}

function SchemeToggle() {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme('light') === 'dark';
  const label = dark ? 'Light colours' : 'Dark colours';
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={() => setColorScheme(dark ? 'light' : 'dark')}>
        {dark ? <IconSun size={18} aria-hidden /> : <IconMoon size={18} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
}
