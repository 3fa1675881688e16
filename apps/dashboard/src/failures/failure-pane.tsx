import { Group, Paper, Text, Title } from '@mantine/core';
import type { FailureGroup } from '#contracts';
import { escapeInvisible } from '#subject';
import { CallPreview } from '../calls-page/call-preview.js';
import { Fact, Facts } from '../components/facts.js';
import { LinkAnchor, LinkButton } from '../components/links.js';
import { Ago } from '../components/time.js';
import { FailureBadges, messageText, ReplayGroup } from './failure-row.js';
import type { FailureSearch } from './failure-search.js';
import classes from './failures-page.module.css';

interface FailurePaneProps {
  readonly group: FailureGroup;
  readonly windowMs: number;
  readonly since: string | undefined;
  /** The address without this kind. */
  readonly list: FailureSearch;
  readonly onReplay: () => void;
  readonly onClose: () => void;
}

/** A kind of failure beside the list, or in its place on a phone: since when, of whom, and its last call with its output. */
export function FailurePane({ group, windowMs, since, list, onReplay, onClose }: FailurePaneProps) {
  const { count, firstSeen, lastSeen, previousSeen, lastCallId, fingerprint, agents, sessions } = group;
  return (
    <div className={classes['pane']} data-failure-pane={fingerprint}>
      <LinkAnchor hiddenFrom="md" size="sm" to="/failures" search={list} replace>
        ‹ All failures
      </LinkAnchor>
      <Paper withBorder p="sm" component="section" aria-label="Kind of failure">
        <Title order={2} fz="md" lineClamp={4} style={{ overflowWrap: 'anywhere' }}>
          {messageText(group)}
        </Title>
        <FailureBadges group={group} windowMs={windowMs} />
        <Group gap="xs" my="xs">
          <LinkButton to="/calls" search={{ fingerprint, since }} size="compact-xs" variant="default">
            {count === 1 ? 'Show the call' : `Show ${count.toLocaleString()} calls`}
          </LinkButton>
          <ReplayGroup group={group} onReplay={onReplay} />
        </Group>
        <Facts>
          <Fact name="First">
            <Ago at={Date.parse(firstSeen)} />
          </Fact>
          <Fact name="Last">
            <Ago at={Date.parse(lastSeen)} />
          </Fact>
          <Fact name="Before">{previousSeen === undefined ? 'never, as far as is known' : <Ago at={Date.parse(previousSeen)} />}</Fact>
          <Fact name="Agents">
            {agents.count > 0 && (
              <Names of={agents}>
                {(name) => (
                  <LinkAnchor key={name} size="sm" to="/calls" search={{ fingerprint, since, agentId: name }}>
                    {escapeInvisible(name)}
                  </LinkAnchor>
                )}
              </Names>
            )}
          </Fact>
          <Fact name="Sessions">
            {sessions.count > 0 && (
              <Names of={sessions}>
                {(name) => (
                  <LinkAnchor key={name} size="sm" to="/sessions/$sessionId" params={{ sessionId: name }}>
                    {escapeInvisible(name)}
                  </LinkAnchor>
                )}
              </Names>
            )}
          </Fact>
        </Facts>
      </Paper>
      <CallPreview key={lastCallId} callId={lastCallId} onClose={onClose} />
    </div>
  );
}

interface NamesProps {
  readonly of: FailureGroup['agents'];
  readonly children: (name: string) => React.ReactNode;
}

function Names({ of: { count, names }, children }: NamesProps) {
  return (
    <Group gap="4px 10px" style={{ overflowWrap: 'anywhere' }}>
      {names.map(children)}
      {count > names.length && (
        <Text size="xs" c="dimmed">
          and {(count - names.length).toLocaleString()} more
        </Text>
      )}
    </Group>
  );
}
