import { Button, Code, Stack, Text } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useState } from 'react';
import { fieldsOf, innerSchemas, type ApiDocument, type Field, type Schema } from './api-document.js';
import classes from './api-reference.module.css';
import { InlineText } from './inline-text.js';

interface SchemaFieldsProps {
  readonly schema: Schema;
  readonly document: ApiDocument;
}

/** Fields of a schema; those inside of them on demand, since schemas contain themselves. */
export function SchemaFields({ schema, document }: SchemaFieldsProps) {
  const inner = innerSchemas(schema, document);
  const own = fieldsOf(schema, document);
  if (own.length === 0)
    return inner.map((one, index) => (
      <div key={index}>
        {inner.length > 1 && (
          <Text size="xs" fw={600} mt="xs">
            {one.name}
          </Text>
        )}
        <SchemaFields schema={one.schema} document={document} />
      </div>
    ));
  return (
    <ul className={classes.fields}>
      {own.map((field) => (
        <FieldRow key={field.name} field={field} document={document} />
      ))}
    </ul>
  );
}

function FieldRow({ field, document }: { readonly field: Field; readonly document: ApiDocument }) {
  const [isOpen, setOpen] = useState(false);
  const { name, type, isRequired, about, schema } = field;
  const hasInner = innerSchemas(schema, document).length > 0;
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <li className={classes.field} data-field={name}>
      <Stack gap={2}>
        <div className={classes.fieldHead}>
          <Code className={classes.name}>{name}</Code>
          <Text span size="xs" c="dimmed" className={classes.type}>
            {type}
          </Text>
          {isRequired && (
            <Text span size="xs" fw={600}>
              required
            </Text>
          )}
          {hasInner && (
            <Button
              size="compact-xs"
              variant="default"
              aria-expanded={isOpen}
              aria-label={`Fields of ${name}`}
              leftSection={<Chevron size={12} aria-hidden />}
              onClick={() => setOpen(!isOpen)}
            >
              fields
            </Button>
          )}
        </div>
        {about !== '' && <InlineText text={about} />}
        {isOpen && <SchemaFields schema={schema} document={document} />}
      </Stack>
    </li>
  );
}
