import { rem } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { createSpotlight, Spotlight, useSpotlight } from '@mantine/spotlight';
import {
  IconBan,
  IconChecklist,
  IconFilter,
  IconListDetails,
  IconMessage,
  IconRobot,
  IconSearch,
  IconTool,
  type TablerIcon,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { Children, useEffect, useRef, useState, type ReactNode } from 'react';
import { CallId, type CallSummary } from '#contracts';
import { escapeInvisible, subjectText } from '#subject';
import { rowOfSummary, shownState } from '../calls/call-row.js';
import { STATES } from '../components/theme.js';
import { useSubjects } from '../components/use-subjects.js';
import { CancelSessionModal } from './cancel-session-modal.js';
import { usePages, type PAGES } from './pages.js';
import { useSearchResults } from './use-search-results.js';
import { countText } from '../components/count-text.js';

const [store, spotlight] = createSpotlight();
export const openSearch = spotlight.open;

const CHORD_MS = 1200;

/** `/` or Ctrl-K finds anything; `g` and a letter goes to a page. */
export function Search() {
  const [query, setQuery] = useState('');
  const [cancelling, setCancelling] = useState<string>();
  const navigate = useNavigate();
  const all = usePages();
  useGoChord(all, (to) => void navigate({ to }));
  useHotkeys([['/', () => spotlight.open()]]);
  const words = query.trim();
  const isOpen = useSpotlight(store).opened;
  const { calls, sessions, agents, tools } = useSearchResults(words, isOpen);
  const pages = all.filter(({ label }) => label.toLowerCase().includes(words.toLowerCase()));
  const recent = words === '' ? 'Recent ' : '';
  return (
    <>
      <Spotlight.Root
        transitionProps={{ duration: 0 }}
        store={store}
        query={query}
        onQueryChange={setQuery}
        shortcut={['mod + K']}
        scrollable
        maxHeight={460}
        size="lg"
        attributes={{ content: { 'aria-label': 'Search' } }}
      >
        <Spotlight.Search
          placeholder="Call id, session, agent, tool, or words to look for …"
          leftSection={<IconSearch size={18} aria-hidden />}
          aria-label="Search"
        />
        <Spotlight.ActionsList>
          {CallId.safeParse(words).success && (
            <Hit
              label={`Call ${words}`}
              about="Open it"
              icon={IconListDetails}
              onOpen={() => void navigate({ to: '/calls/$callId', params: { callId: words } })}
            />
          )}
          <Hits label={`${recent}Sessions`}>
            {sessions.map(({ sessionId, agentId, calls: count }) => (
              <Hit
                key={sessionId}
                label={sessionId}
                about={`${agentId === undefined ? '' : `${agentId}, `}${count} ${count === 1 ? 'call' : 'calls'}`}
                icon={IconMessage}
                onOpen={() => void navigate({ to: '/sessions/$sessionId', params: { sessionId } })}
              />
            ))}
          </Hits>
          <Hits label="Agents">
            {agents.map(({ value, count }) => (
              <Hit
                key={value}
                label={value}
                about={`Agent, ${countText(count, 'call')} in 30 days`}
                icon={IconRobot}
                onOpen={() => void navigate({ to: '/calls', search: { agentId: value } })}
              />
            ))}
          </Hits>
          <Hits label="Tools">
            {tools.map((tool) => (
              <Hit
                key={tool.name}
                label={tool.name}
                about={tool.label}
                icon={IconTool}
                onOpen={() => void navigate({ to: '/tools/$tool', params: { tool: tool.name } })}
              />
            ))}
          </Hits>
          <Hits label={`${recent}Calls`}>
            {calls.map((call) => (
              <CallHit key={call.id} call={call} onOpen={() => void navigate({ to: '/calls/$callId', params: { callId: call.id } })} />
            ))}
            {words !== '' && (
              <Hit
                label={`Calls that mention “${words}”`}
                about="In ids, tools, agents, sessions, errors and arguments"
                icon={IconFilter}
                onOpen={() => void navigate({ to: '/calls', search: { q: words } })}
              />
            )}
          </Hits>
          <Hits label="Actions">
            {'decide the next approval'.includes(words.toLowerCase()) && (
              <Hit label="Decide the next approval" about="g a" icon={IconChecklist} onOpen={() => void navigate({ to: '/approvals' })} />
            )}
            {words !== '' &&
              sessions
                .filter(({ running }) => running > 0)
                .map(({ sessionId, running }) => (
                  <Hit
                    key={sessionId}
                    label={`Cancel session ${sessionId}`}
                    about={`${running} open ${running === 1 ? 'call' : 'calls'}; asks first`}
                    icon={IconBan}
                    onOpen={() => setCancelling(sessionId)}
                  />
                ))}
          </Hits>
          <Hits label="Pages">
            {pages.map(({ to, label, about, key, icon }) => (
              <Hit key={to} label={label} about={`${about} (g ${key})`} icon={icon} onOpen={() => void navigate({ to })} />
            ))}
          </Hits>
        </Spotlight.ActionsList>
      </Spotlight.Root>
      {cancelling !== undefined && <CancelSessionModal sessionId={cancelling} onClose={() => setCancelling(undefined)} />}
    </>
  );
}

/** A group with its name; nothing without a hit. */
function Hits({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return Children.toArray(children).length === 0 ? null : <Spotlight.ActionsGroup label={label}>{children}</Spotlight.ActionsGroup>;
}

interface HitProps {
  readonly label: string;
  readonly about: string;
  readonly icon: TablerIcon;
  readonly onOpen: () => void;
}

function Hit({ label, about, icon: Icon, onOpen }: HitProps) {
  return (
    <Spotlight.Action
      label={escapeInvisible(label)}
      description={escapeInvisible(about)}
      leftSection={<Icon size={18} style={{ minWidth: rem(18) }} aria-hidden />}
      onClick={onOpen}
    />
  );
}

function CallHit({ call, onOpen }: { readonly call: CallSummary; readonly onOpen: () => void }) {
  const subjects = useSubjects(call.tool);
  const state = STATES[shownState(rowOfSummary(call))].label;
  return (
    <Hit label={subjectText(call.preview, subjects) || call.tool} about={`${call.tool}, ${state}`} icon={IconListDetails} onOpen={onOpen} />
  );
}

type PagePath = (typeof PAGES)[number]['to'];

/** The key after `g` reaches no page: `g a` opens the approvals and allows nothing there. */
function useGoChord(pages: ReturnType<typeof usePages>, go: (to: PagePath) => void): void {
  const pressedAt = useRef(Number.NEGATIVE_INFINITY);
  useHotkeys([['g', () => (pressedAt.current = performance.now())]]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (performance.now() - pressedAt.current >= CHORD_MS) return;
      pressedAt.current = Number.NEGATIVE_INFINITY;
      const page = pages.find(({ key }) => key === event.key);
      if (page === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      go(page.to);
    };
    window.addEventListener('keydown', onKey, { capture: true });
    return () => window.removeEventListener('keydown', onKey, { capture: true });
  });
}
