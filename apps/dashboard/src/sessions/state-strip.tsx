import type { SessionSummary } from '#contracts';
import { STATES } from '../components/theme.js';
import { shownState } from '../calls/call-row.js';
import classes from './state-strip.module.css';

/** The states of the newest calls, the oldest of them first. */
export function StateStrip({ recent }: Pick<SessionSummary, 'recent'>) {
  const states = recent.map((call) => shownState({ ...call, retrying: false, suspended: false, cancelling: false })).toReversed();
  const label = [...new Set(states)]
    .map((name) => `${states.filter((state) => state === name).length} ${STATES[name].label.toLowerCase()}`)
    .join(', ');
  return (
    <span className={classes['strip']} role="img" aria-label={`Newest calls: ${label || 'none'}`} title={label}>
      {states.map((state, index) => (
        <span key={index} style={{ background: `var(--mantine-color-${STATES[state].color}-6)` }} />
      ))}
    </span>
  );
}
