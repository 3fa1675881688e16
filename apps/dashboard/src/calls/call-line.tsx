import { Link } from '@tanstack/react-router';
import type { CallSummary } from '#contracts';
import { escapeInvisible, subjectText } from '#subject';
import { rowOfSummary, shownState } from './call-row.js';
import { StateBadge } from '../components/state-badge.js';
import { Duration, Since } from '../components/time.js';
import { useSubjects } from '../components/use-subjects.js';
import classes from './call-line.module.css';

/** A call in one line: state, tool, subject and run time. */
export function CallLine({ call, here = false }: { readonly call: CallSummary; readonly here?: boolean }) {
  const subjects = useSubjects(call.tool);
  const row = rowOfSummary(call);
  const subject = escapeInvisible(subjectText(call.preview, subjects));
  return (
    <div className={classes.line} data-call={call.id} data-row>
      <StateBadge size="xs" state={shownState(row)} note={row.note} />
      <Link
        to="/calls/$callId"
        params={{ callId: call.id }}
        className={classes.link}
        {...(here ? { 'aria-current': 'page' as const } : {})}
      >
        {call.tool}
      </Link>
      <code className={classes.subject} title={subject}>
        {subject}
      </code>
      <span className={classes.time}>
        {row.status === 'running' && row.startedAt !== undefined ? <Since at={row.startedAt} /> : <Duration ms={row.runMs} />}
      </span>
    </div>
  );
}
