import { SegmentedControl, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Call, FileChange } from '#contracts';
import { escapeInvisible, fileChanges, lineOfText, lookAlikes, type SubjectPart, subjectParts, withoutDefaults } from '#subject';
import { DiffView } from '../components/diff-view.js';
import { Json } from '../components/json.js';
import { useSubjects, useTool } from '../components/use-subjects.js';
import { VisibleText } from '../components/visible-text.js';
import { CodeBlock, LookAlikeWarning } from './code-block.js';
import { languageOf } from './highlight.js';
import { riskyParts } from './risky-parts.js';
import classes from './subject.module.css';

interface SubjectViewProps {
  readonly call: Pick<Call, 'tool' | 'arguments' | 'argumentsRedacted'> & Partial<Pick<Call, 'decision' | 'result'>>;
  /** Number among others on a page, which distinguishes their parts for screen readers. */
  readonly place?: number;
}

/** Subject of a call: its command, paths, changes and other arguments in readable form, or as JSON. */
export function SubjectView({ call, place }: SubjectViewProps) {
  const subjects = useSubjects(call.tool);
  const schema = useTool(call.tool)?.input;
  const [asJson, setAsJson] = useState(false);
  const { args, defaults } = useMemo(() => withoutDefaults(call.arguments, schema), [call.arguments, schema]);
  const parts = useMemo(() => subjectParts(args, subjects), [args, subjects]);
  const hunks = useMemo(() => fileChanges(call.result?.details).flatMap((change) => change.hunks), [call.result]);
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        className={classes['choice'] ?? ''}
        aria-label="How the arguments are shown"
        value={asJson ? 'json' : 'readable'}
        onChange={(value) => setAsJson(value === 'json')}
        data={[
          { value: 'readable', label: 'Readable' },
          { value: 'json', label: 'JSON' },
        ]}
      />
      {asJson ? (
        <Json value={call.arguments} label={place === undefined ? 'Arguments' : `Arguments ${place}`} marksNames />
      ) : (
        parts.map((part, index) => (
          <Part key={index} part={part} place={place} writtenOut={call.argumentsRedacted === true} decision={call.decision} hunks={hunks} />
        ))
      )}
      {defaults.length > 0 && !asJson && (
        <Text size="xs" c="dimmed">
          By default: {escapeInvisible(defaults.join(', '))}
        </Text>
      )}
      {parts.length === 0 && defaults.length === 0 && !asJson && (
        <Text size="sm" c="dimmed">
          It has no arguments.
        </Text>
      )}
    </Stack>
  );
}

interface PartProps {
  readonly part: SubjectPart;
  readonly place: number | undefined;
  readonly writtenOut: boolean;
  readonly decision: Call['decision'] | undefined;
  /** Changes by the call: the positions of its edits in files. */
  readonly hunks: FileChange['hunks'];
}

function Part({ part, place, writtenOut, decision, hunks }: PartProps) {
  const labelled = (label: string) => (place === undefined ? label : `${label} ${place}`);
  switch (part.kind) {
    case 'command':
      return (
        <CodeBlock
          code={part.text}
          language="bash"
          label={labelled('Command')}
          writtenOut={writtenOut}
          parts={decision === undefined ? [] : riskyParts(part.text, decision)}
        />
      );
    case 'edit':
      return (
        <DiffView
          before={part.before}
          after={part.after}
          label={labelled(`The ${part.name}`)}
          writtenOut={writtenOut}
          from={{ before: lineOfText(part.before, 'before', hunks), after: lineOfText(part.after, 'after', hunks) }}
        />
      );
    case 'patch':
      return <CodeBlock code={part.text} language="diff" label={labelled('Changes')} writtenOut={writtenOut} />;
    case 'text':
      return (
        <div>
          <Name name={part.name} />
          <CodeBlock code={part.text} language={languageOf(part.path ?? '')} label={labelled(part.name)} writtenOut={writtenOut} />
        </div>
      );
    case 'url':
    case 'path':
      return <Line name={part.name} text={part.text} writtenOut={writtenOut} />;
    case 'value':
      if (typeof part.value === 'object' && part.value !== null)
        return (
          <div>
            <Name name={part.name} />
            <Json value={part.value} label={labelled(part.name)} marksNames />
          </div>
        );
      return <Line name={part.name} text={String(part.value)} writtenOut={writtenOut} />;
    default:
      return part satisfies never;
  }
}

function Name({ name }: { readonly name: string }) {
  return (
    <Text size="xs" c="dimmed">
      <VisibleText text={name} />
    </Text>
  );
}

function Line({ name, text, writtenOut }: { readonly name: string; readonly text: string; readonly writtenOut: boolean }) {
  return (
    <div className={classes['line']}>
      <Name name={name} />
      <code className={classes['value']}>
        <VisibleText text={text} writtenOut={writtenOut} />
      </code>
      {lookAlikes(text).length > 0 && <LookAlikeWarning />}
    </div>
  );
}
