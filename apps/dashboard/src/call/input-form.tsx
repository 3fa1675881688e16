import { Alert, Group, JsonInput, Select, Skeleton, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { z } from 'zod';
import { Json, parseExactJson, type InputRequest, type JsonSchema, type JsonValue } from '#contracts';
import { escapeInvisible } from '#subject';
import { defined } from '../components/arguments-editor.js';
import { ScopedButton } from '../components/scoped-button.js';
import { notifyError, notifySuccess } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';

const ArgumentForm = lazy(() => import('../components/argument-form.js'));

const Choice = z.looseObject({ enum: z.array(z.string()).min(1) });
const TextSchema = z.looseObject({ type: z.literal('string') });
const FieldsSchema = z.looseObject({ type: z.literal('object'), properties: z.looseObject({}) });

interface InputFormProps {
  readonly callId: string;
  readonly question: InputRequest;
  /** Caller for whom the tool asks. */
  readonly about: ReactNode;
}

/** The question of a tool with a field for its answer: a choice, a text, fields, or JSON. */
export function InputForm({ callId, question, about }: InputFormProps) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const value = valueOf(text, question.inputSchema);
  const give = useMutation({
    mutationFn: (answer: { readonly value: JsonValue } | { readonly decline: true }) =>
      client.calls.input(callId, { ...answer, attempt: question.attempt }),
    onSuccess: (_call, answer) => notifySuccess('decline' in answer ? 'The question is declined' : 'The tool has its input'),
    onError: (error) => notifyError('The answer was not taken', error),
    onSettled: () => void queries.invalidateQueries({ queryKey: ['call', callId] }),
  });
  const decline = question.declinable === true && (
    <ScopedButton scope="read" variant="default" loading={give.isPending} onClick={() => give.mutate({ decline: true })}>
      Decline
    </ScopedButton>
  );
  return (
    <Alert color="yellow" title="The tool asks for input">
      <Stack gap="sm">
        <div>{about}</div>
        {question.prompt !== undefined && <Text style={{ whiteSpace: 'pre-wrap' }}>{escapeInvisible(question.prompt)}</Text>}
        {hasFields(question.inputSchema) ? (
          <FieldsForm schema={question.inputSchema} onAnswer={(given) => give.mutate({ value: given })}>
            <Group justify="flex-end">
              {decline}
              <ScopedButton scope="read" type="submit" loading={give.isPending}>
                Answer
              </ScopedButton>
            </Group>
          </FieldsForm>
        ) : (
          <>
            <AnswerField schema={question.inputSchema} value={text} onChange={setText} />
            <Group justify="flex-end">
              {decline}
              <ScopedButton
                scope="read"
                disabled={value === undefined}
                loading={give.isPending}
                onClick={() => value !== undefined && give.mutate({ value: value.given })}
              >
                Answer
              </ScopedButton>
            </Group>
          </>
        )}
      </Stack>
    </Alert>
  );
}

function hasFields(schema: InputRequest['inputSchema']): schema is JsonSchema {
  return FieldsSchema.safeParse(schema).success;
}

interface FieldsFormProps {
  readonly schema: JsonSchema;
  /** Called with a value that fits the schema. */
  readonly onAnswer: (value: JsonValue) => void;
  /** With a button of the type submit. */
  readonly children: ReactNode;
}

/** An object as one field a property, as MCP servers ask for it. */
function FieldsForm({ schema, onAnswer, children }: FieldsFormProps) {
  const [fields, setFields] = useState<unknown>({});
  return (
    <Suspense fallback={<Skeleton height={120} />}>
      <ArgumentForm
        schema={schema}
        value={fields}
        onChange={setFields}
        onSubmit={() => onAnswer(Json.parse(defined(fields)))}
        violations={[]}
      >
        {children}
      </ArgumentForm>
    </Suspense>
  );
}

interface AnswerFieldProps {
  readonly schema: InputRequest['inputSchema'];
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function AnswerField({ schema, value, onChange }: AnswerFieldProps) {
  const choice = Choice.safeParse(schema).data?.enum;
  if (choice !== undefined)
    return <Select label="Answer" data={[...new Set(choice)]} value={value === '' ? null : value} onChange={(it) => onChange(it ?? '')} />;
  if (TextSchema.safeParse(schema).success)
    return <Textarea label="Answer" autosize minRows={2} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)} />;
  const description = schema === undefined ? 'Any JSON value.' : `JSON that fits ${JSON.stringify(schema)}`;
  return (
    <JsonInput label="Answer" description={description} validationError="This is not JSON yet" autosize value={value} onChange={onChange} />
  );
}

/** Undefined while the field has no answer. */
function valueOf(text: string, schema: InputRequest['inputSchema']): { readonly given: JsonValue } | undefined {
  if (text === '') return undefined;
  if (Choice.safeParse(schema).success || TextSchema.safeParse(schema).success) return { given: text };
  try {
    return { given: Json.parse(parseExactJson(text)) };
  } catch {
    return undefined;
  }
}
