import { rem } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { IconFilter, IconListDetails, IconMessage, IconSearch, IconTool } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { CallId, Label } from '#contracts';
import { useToolyard } from '../stream/toolyard.js';
import { usePages, type PAGES } from './pages.js';

const [store, spotlight] = createSpotlight();
export const openSearch = spotlight.open;

const CHORD_MS = 1200;

/** `/` or Ctrl-K finds anything; `g` and a letter goes to a page. */
export function Search() {
  const [query, setQuery] = useState('');
  const navigate = useNavigate();
  const all = usePages();
  useGoChord(all, (to) => void navigate({ to }));
  useHotkeys([['/', () => spotlight.open()]]);
  const found = useFound(query.trim());

  const pages = all.filter(({ label }) => label.toLowerCase().includes(query.trim().toLowerCase()));
  return (
    <Spotlight.Root
      transitionProps={{ duration: 0 }}
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={['mod + K']}
      scrollable
      maxHeight={420}
      size="lg"
    >
      <Spotlight.Search
        placeholder="Call id, session, tool, or words to look for …"
        leftSection={<IconSearch size={18} aria-hidden />}
        aria-label="Search"
      />
      <Spotlight.ActionsList>
        {query.trim() !== '' && (
          <Spotlight.ActionsGroup label="Find">
            {CallId.safeParse(query.trim()).success && (
              <Spotlight.Action
                label={`Call ${query.trim()}`}
                description="Open it"
                leftSection={<IconListDetails size={18} aria-hidden />}
                onClick={() => void navigate({ to: '/calls/$callId', params: { callId: query.trim() } })}
              />
            )}
            <Spotlight.Action
              label={`Calls that mention “${query.trim()}”`}
              description="In ids, tools, agents, sessions, errors and arguments"
              leftSection={<IconFilter size={18} aria-hidden />}
              onClick={() => void navigate({ to: '/calls', search: { q: query.trim() } })}
            />
            {Label.safeParse(query.trim()).success && (
              <Spotlight.Action
                label={`Session ${query.trim()}`}
                description="Its calls as a tree"
                leftSection={<IconMessage size={18} aria-hidden />}
                onClick={() => void navigate({ to: '/sessions/$sessionId', params: { sessionId: query.trim() } })}
              />
            )}
          </Spotlight.ActionsGroup>
        )}
        {found.length > 0 && (
          <Spotlight.ActionsGroup label="Tools">
            {found.map((tool) => (
              <Spotlight.Action
                key={tool.name}
                label={tool.name}
                description={tool.label}
                leftSection={<IconTool size={18} aria-hidden />}
                onClick={() => void navigate({ to: '/tools/$tool', params: { tool: tool.name } })}
              />
            ))}
          </Spotlight.ActionsGroup>
        )}
        {pages.length > 0 && (
          <Spotlight.ActionsGroup label="Pages">
            {pages.map(({ to, label, about, key, icon: Icon }) => (
              <Spotlight.Action
                key={to}
                label={label}
                description={`${about} (g ${key})`}
                leftSection={<Icon size={18} style={{ minWidth: rem(18) }} aria-hidden />}
                onClick={() => void navigate({ to })}
              />
            ))}
          </Spotlight.ActionsGroup>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

function useFound(query: string) {
  const { client } = useToolyard();
  const { data } = useQuery({ queryKey: ['tools'], queryFn: ({ signal }) => client.tools.list({}, { signal }), staleTime: 60_000 });
  if (query === '') return [];
  const words = query.toLowerCase();
  return (data ?? []).filter(({ name, label }) => `${name} ${label}`.toLowerCase().includes(words)).slice(0, 6);
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
