import { Badge, Code, Group, Paper, Stack, Tabs, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Json } from '../components/json.js';
import { bodyOf, resolved, scopeOf, typeText, type ApiDocument, type Operation, type Response, type Schema } from './api-document.js';
import classes from './api-reference.module.css';
import { InlineText } from './inline-text.js';
import { SchemaFields } from './schema-fields.js';
import { TryOperation } from './try-operation.js';

interface OperationViewProps {
  readonly operation: Operation;
  readonly document: ApiDocument;
}

/** One operation: its requirements and answers, and a request to send. */
export function OperationView({ operation, document }: OperationViewProps) {
  const { method, path, description, parameters = [], responses } = operation;
  const scope = scopeOf(operation);
  const body = bodyOf(operation);
  const bodySchema = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  return (
    <Stack gap="md" data-shown={operation.operationId}>
      <Group gap="sm" wrap="wrap">
        <span className={classes.method} data-method={method}>
          {method}
        </span>
        <span className={classes.path}>{path}</span>
        <Badge variant="default" tt="none">
          {scope === undefined ? 'no key' : `scope ${scope}`}
        </Badge>
      </Group>
      {description !== undefined && <InlineText text={description} c="inherit" />}
      <TryOperation operation={operation} />
      {parameters.length > 0 && (
        <Section title="Parameters">
          <ul className={classes.fields}>
            {parameters.map(({ name, in: place, required, description: about, schema }) => (
              <li key={place + name} className={classes.field}>
                <div className={classes.fieldHead}>
                  <Code className={classes.name}>{name}</Code>
                  <Text span size="xs" c="dimmed" className={classes.type}>
                    {place} · {typeText(schema)}
                  </Text>
                  {required === true && (
                    <Text span size="xs" fw={600}>
                      required
                    </Text>
                  )}
                </div>
                {about !== undefined && <InlineText text={about} />}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {body !== undefined && bodySchema !== undefined && (
        <Section title={`Body: ${typeText(bodySchema)}`} about={body.type}>
          <SchemaFields schema={bodySchema} document={document} />
        </Section>
      )}
      <Section title="Answers">
        <Answers responses={responses} document={document} />
      </Section>
    </Stack>
  );
}

function Section({ title, about, children }: { readonly title: string; readonly about?: string; readonly children: React.ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Group gap="xs" mb="xs">
        <Title order={2} size="h4">
          {title}
        </Title>
        {about !== undefined && <Code>{about}</Code>}
      </Group>
      {children}
    </Paper>
  );
}

function Answers({ responses, document }: { readonly responses: Readonly<Record<string, Response>>; readonly document: ApiDocument }) {
  const [status, setStatus] = useState(Object.keys(responses)[0] ?? null);
  return (
    <Tabs value={status} onChange={setStatus} keepMounted={false} variant="outline">
      <Tabs.List mb="xs">
        {Object.keys(responses).map((one) => (
          <Tabs.Tab key={one} value={one}>
            {one}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {Object.entries(responses).map(([one, { description, content = {} }]) => (
        <Tabs.Panel key={one} value={one}>
          <InlineText text={description} c="inherit" />
          {Object.entries(content).map(([type, { schema, examples = {} }]) => (
            <Stack key={type} gap="xs" mt="xs">
              <Group gap="xs">
                <Code>{type}</Code>
                {schema !== undefined && <Text size="sm">{typeText(schema)}</Text>}
              </Group>
              {schema !== undefined && <Alternatives schema={schema} document={document} />}
              {Object.values(examples)
                .slice(0, 1)
                .map(({ value }, index) => (
                  <details key={index}>
                    <summary className={classes.summary}>Example</summary>
                    <Json value={value} label={`Example of ${one}`} />
                  </details>
                ))}
            </Stack>
          ))}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function Alternatives({ schema, document }: { readonly schema: Schema; readonly document: ApiDocument }) {
  const about = resolved(schema, document).description;
  return (
    <>
      {about !== undefined && <InlineText text={about} />}
      <SchemaFields schema={schema} document={document} />
    </>
  );
}
