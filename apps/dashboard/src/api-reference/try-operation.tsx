import {
  Badge,
  Button,
  Group,
  JsonInput,
  Paper,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { z } from 'zod';
import { LOGIN_HEADER, Scope, type CallSummary } from '#contracts';
import { requestAsCurl, requestAsPython, requestAsTypeScript, type HttpRequest } from '#subject';
import { durationText } from '../components/duration.js';
import { Json } from '../components/json.js';
import { notifyError } from '../components/notify.js';
import { ScopedButton } from '../components/scoped-button.js';
import { useKey } from '../session/key.js';
import { useToolyard } from '../stream/toolyard.js';
import { CodeBlock } from '../subject/code-block.js';
import { bodyOf, entryOf, exampleOf, requestOf, scopeOf, streamsOnly, type Operation, type Parameter } from './api-document.js';

const Language = z.enum(['curl', 'TypeScript', 'Python']);
const SAMPLES = {
  curl: { write: (request: HttpRequest) => requestAsCurl(request, location.origin), language: 'bash' },
  TypeScript: { write: requestAsTypeScript, language: 'typescript' },
  Python: { write: requestAsPython, language: 'python' },
} as const;
const SHOWN_CHARS = 1_000_000;
const LABEL_CHARS = 90;

/**
 * A request that can be changed and sent, and the same as code, which reads the key from the environment. Ids of a read are
 * those of the newest call; what differs with each request, such as a header for repetitions, is empty.
 */
export function TryOperation({ operation }: { readonly operation: Operation }) {
  const { client } = useToolyard();
  const { parameters = [] } = operation;
  const newest = useQuery({
    queryKey: ['newest-call'],
    queryFn: async ({ signal }) => (await client.calls.list({ limit: 1 }, { signal })).calls[0] ?? null,
    enabled: parameters.some((parameter) => parameter.in === 'path'),
    retry: false,
  });
  const body = bodyOf(operation);
  const [changed, setChanged] = useState<Readonly<Record<string, string>>>({});
  const [example, setExample] = useState(0);
  const [text, setText] = useState(() => bodyText(body?.examples[0]));
  const [language, setLanguage] = useState<z.output<typeof Language>>('curl');
  const entered = { ...Object.fromEntries(parameters.map((it) => [entryOf(it), prefilled(operation, it, newest.data)])), ...changed };
  const request = requestOf(operation, entered, text);
  const lacking = parameters.find((parameter) => parameter.required === true && (entered[entryOf(parameter)] ?? '').trim() === '');
  const sample = SAMPLES[language];
  return (
    <Paper withBorder p="md" component="section" aria-label="Request">
      <Title order={2} size="h4" mb="xs">
        Request
      </Title>
      {parameters.length > 0 && (
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" mb="sm">
          {parameters.map((parameter) => (
            <TextInput
              key={entryOf(parameter)}
              size="xs"
              label={parameter.name}
              withAsterisk={parameter.required === true}
              placeholder={exampleOf(parameter)}
              value={entered[entryOf(parameter)] ?? ''}
              onChange={(event) => setChanged({ ...changed, [entryOf(parameter)]: event.currentTarget.value })}
            />
          ))}
        </SimpleGrid>
      )}
      {body !== undefined && (
        <Stack gap="xs" mb="sm">
          {body.examples.length > 1 && (
            <Select
              size="xs"
              label="Example"
              allowDeselect={false}
              data={body.examples.map((value, index) => ({
                value: String(index),
                label: `${index + 1}: ${JSON.stringify(value).slice(0, LABEL_CHARS)}`,
              }))}
              value={String(example)}
              onChange={(value) => {
                setExample(Number(value));
                setText(bodyText(body.examples[Number(value)]));
              }}
            />
          )}
          <BodyInput isJson={body.type.includes('json')} value={text} onChange={setText} />
        </Stack>
      )}
      <SendRequest operation={operation} request={request} lacking={lacking} />
      <Group justify="space-between" mt="md" mb={4}>
        <Text size="sm" fw={600}>
          As code
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Language of the sample"
          value={language}
          onChange={(chosen) => setLanguage(Language.parse(chosen))}
          data={[...Language.options]}
        />
      </Group>
      <CodeBlock code={sample.write(readable(request))} language={sample.language} label={`Sample in ${language}`} writtenOut />
    </Paper>
  );
}

/** Request with a JSON body as a value, which code samples write in their own syntax. The text itself is sent. */
function readable({ body, ...request }: HttpRequest): HttpRequest {
  if (typeof body !== 'string') return request;
  try {
    return { ...request, body: z.json().parse(JSON.parse(body)) };
  } catch {
    return { ...request, body };
  }
}

function bodyText(example: unknown): string {
  return example === undefined ? '' : typeof example === 'string' ? example : JSON.stringify(example, null, 2);
}

/** Entry of a parameter before a person changes it: of the path of a read, from the newest call. Other operations would act on it. */
function prefilled({ path, method }: Operation, parameter: Parameter, newest: CallSummary | null | undefined): string {
  if (parameter.in !== 'path') return parameter.required === true && parameter.in === 'query' ? exampleOf(parameter) : '';
  if (method !== 'GET') return '';
  const collection = path.split(`/{${parameter.name}}`)[0]?.split('/').at(-1);
  if (collection === 'calls') return newest?.id ?? '';
  if (collection === 'sessions') return newest?.sessionId ?? '';
  return collection === 'tools' ? (newest?.tool ?? '') : '';
}

interface BodyInputProps {
  readonly isJson: boolean;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function BodyInput({ isJson, ...props }: BodyInputProps) {
  const look = {
    label: 'Body',
    autosize: true,
    minRows: 3,
    maxRows: 24,
    styles: { input: { fontFamily: 'var(--app-mono)', fontSize: 13 } },
  };
  if (!isJson) return <Textarea {...look} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)} />;
  return <JsonInput {...look} {...props} validationError="This is not JSON yet" />;
}

interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly tookMs: number;
  readonly body: unknown;
}

interface SendRequestProps {
  readonly operation: Operation;
  readonly request: HttpRequest;
  readonly lacking: Parameter | undefined;
}

function SendRequest({ operation, request, lacking }: SendRequestProps) {
  const key = useKey();
  const send = useMutation({
    mutationFn: () => sendRequest(request, key),
    onError: (error) => notifyError('No answer came', error),
  });
  const scope = Scope.safeParse(scopeOf(operation)).data;
  const why = streamsOnly(operation)
    ? 'Its answer has no end: use the code below'
    : lacking === undefined
      ? undefined
      : `It needs a value for ${lacking.name}`;
  const look = { size: 'xs', loading: send.isPending, leftSection: <IconSend size={14} aria-hidden />, children: 'Send' } as const;
  const press = () => send.mutate();
  return (
    <>
      {scope === undefined ? (
        <Button {...look} disabled={why !== undefined} onClick={press} />
      ) : (
        <ScopedButton {...look} scope={scope} whyNot={why} onClick={press} />
      )}
      {send.data !== undefined && <AnswerView answer={send.data} />}
    </>
  );
}

function AnswerView({ answer: { status, statusText, tookMs, body } }: { readonly answer: Answer }) {
  return (
    <Stack gap="xs" mt="sm" role="status" data-answer={status}>
      <Group gap="xs">
        <Badge color={status < 400 ? 'teal' : 'red'} variant="outline" tt="none">
          {status} {statusText}
        </Badge>
        <Text size="xs" c="dimmed">
          {durationText(tookMs)}
        </Text>
      </Group>
      {body === '' ? <Text size="sm">The answer has no body.</Text> : <Json value={body} label="Answer" />}
    </Stack>
  );
}

async function sendRequest({ method, path, headers, needsKey, body }: HttpRequest, key: string | undefined): Promise<Answer> {
  const startedAt = performance.now();
  const authorization: Record<string, string> = !needsKey
    ? {}
    : key === undefined
      ? { [LOGIN_HEADER]: '1' }
      : { Authorization: `Bearer ${key}` };
  const response = await fetch(path, {
    method,
    headers: { ...headers, ...authorization },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true && text.length <= SHOWN_CHARS;
  return {
    status: response.status,
    statusText: response.statusText,
    tookMs: performance.now() - startedAt,
    body: isJson ? JSON.parse(text) : text.slice(0, SHOWN_CHARS),
  };
}
