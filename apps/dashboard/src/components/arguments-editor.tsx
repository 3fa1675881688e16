import { SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { z } from 'zod';
import { Json, parseExactJson, type Violation } from '#contracts';
import { ArgumentsInput } from './arguments-input.js';
import { useTool } from './use-subjects.js';

const ArgumentForm = lazy(() => import('./argument-form.js'));

export const Arguments = z.record(z.string(), Json);

interface ArgumentsEditorProps {
  readonly tool: string;
  readonly value: unknown;
  /** Called with undefined for a text that is no JSON. */
  readonly onChange: (value: unknown) => void;
  /** Called by a button of the type submit in `children`, and by Enter in a field. Absent: Enter does nothing. */
  readonly onSubmit?: () => void;
  /** The gateway's errors about the arguments, for the fields of the form. */
  readonly violations: readonly Violation[];
  readonly children?: ReactNode;
}

/** The form of a tool, or a field with JSON: also for a tool that the catalog does not have. */
export function ArgumentsEditor({ tool, value, onChange, onSubmit, violations, children }: ArgumentsEditorProps) {
  const schema = useTool(tool)?.input;
  const [wantsJson, setWantsJson] = useState(false);
  const [written, setWritten] = useState<{ readonly text: string; readonly value: unknown }>();
  const choice = schema !== undefined && (
    <SegmentedControl
      size="xs"
      aria-label="Arguments as"
      value={wantsJson ? 'json' : 'form'}
      onChange={(mode) => setWantsJson(mode === 'json')}
      data={[
        { value: 'form', label: 'Form', disabled: value === undefined },
        { value: 'json', label: 'JSON' },
      ]}
      style={{ alignSelf: 'flex-end' }}
    />
  );
  if (schema !== undefined && !wantsJson)
    return (
      <Stack gap="sm">
        {choice}
        <Suspense fallback={<Skeleton height={180} />}>
          <ArgumentForm
            schema={schema}
            value={value}
            onChange={(form) => onChange(defined(form))}
            onSubmit={() => onSubmit?.()}
            violations={violations}
          >
            {children ?? <></>}
          </ArgumentForm>
        </Suspense>
      </Stack>
    );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit?.();
      }}
    >
      <Stack gap="sm">
        {choice}
        <ArgumentsInput
          // The text of a person, until the value is another one.
          value={written !== undefined && written.value === value ? written.text : JSON.stringify(value, null, 2)}
          onChange={(text) => {
            const read = parsed(text);
            setWritten({ text, value: read });
            onChange(read);
          }}
        />
      </Stack>
      {children}
    </form>
  );
}

/** Without the fields that a person has emptied. */
export function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(defined);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, of]) => (of === undefined ? [] : [[name, defined(of)]])));
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
