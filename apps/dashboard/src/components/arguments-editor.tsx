import { SegmentedControl, Skeleton } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { z } from 'zod';
import { Json, parseExactJson, type Call, type Violation } from '#contracts';
import { ArgumentsInput } from './arguments-input.js';
import { useTool } from './use-subjects.js';

const ArgumentForm = lazy(() => import('./argument-form.js'));

export const Arguments = z.record(z.string(), Json);

interface ArgumentsEditorProps {
  readonly call: Call;
  readonly value: unknown;
  /** Called with undefined for a text that is no JSON. */
  readonly onChange: (value: unknown) => void;
  /** The gateway's errors about the arguments. */
  readonly violations: readonly Violation[];
}

/** The form of the call's tool, or a field with JSON: also for a tool that the catalog does not have. */
export function ArgumentsEditor({ call, value, onChange, violations }: ArgumentsEditorProps) {
  const schema = useTool(call.tool)?.input;
  const [text, setText] = useState<string>();
  const choice = (
    <SegmentedControl
      size="xs"
      aria-label="Arguments as"
      value={text === undefined ? 'form' : 'json'}
      onChange={(mode) => setText(mode === 'json' ? JSON.stringify(value, null, 2) : undefined)}
      data={[
        { value: 'form', label: 'Form', disabled: value === undefined },
        { value: 'json', label: 'JSON' },
      ]}
      style={{ alignSelf: 'flex-end' }}
    />
  );
  if (schema === undefined || text !== undefined)
    return (
      <>
        {schema !== undefined && choice}
        <ArgumentsInput
          value={text ?? JSON.stringify(call.arguments, null, 2)}
          onChange={(written) => {
            setText(written);
            onChange(parsed(written));
          }}
        />
      </>
    );
  return (
    <>
      {choice}
      <Suspense fallback={<Skeleton height={180} />}>
        {/* Enter in a field does nothing: only the button below does. */}
        <ArgumentForm schema={schema} value={value} onChange={onChange} onSubmit={() => undefined} violations={violations}>
          <></>
        </ArgumentForm>
      </Suspense>
    </>
  );
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
