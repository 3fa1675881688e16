import '@mantine/dates/styles.css';
import Form from '@rjsf/mantine';
import {
  ErrorSchemaBuilder,
  type DescriptionFieldProps,
  type ErrorSchema,
  type RJSFSchema,
  type UiSchema,
  type WidgetProps,
} from '@rjsf/utils';
import { Checkbox, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { z } from 'zod';
import type { JsonSchema, Violation } from '#contracts';
import formValidator from './form-validator.js';

interface ArgumentFormProps {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly onSubmit: () => void;
  /** The gateway's errors about the arguments. */
  readonly violations: readonly Violation[];
  readonly children: ReactNode;
}

/** Description of a nested object; fields have theirs where Mantine puts it. */
function Description({ id, description }: DescriptionFieldProps<unknown>) {
  return (
    <Text id={id} size="xs" c="dimmed">
      {description}
    </Text>
  );
}

/** The form's own widget has the description above the box, like that of another field. */
function BooleanField({
  id,
  value,
  label,
  required,
  disabled = false,
  readonly = false,
  rawErrors,
  schema,
  onChange,
}: WidgetProps<unknown>) {
  return (
    <Checkbox
      id={id}
      label={label}
      description={schema.description}
      required={required}
      disabled={disabled || readonly}
      checked={value === true}
      error={rawErrors?.join(', ')}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}

/** A field of one line would drop the line ends of a text that has some. */
function TextField(props: WidgetProps<unknown>) {
  const value: unknown = props.value;
  const hasLines = typeof value === 'string' && value.includes('\n');
  const [isLong, setLong] = useState(hasLines);
  // Stays long while a person removes line ends from it.
  if (hasLines && !isLong) setLong(true);
  const { TextareaWidget } = props.registry.widgets;
  const { BaseInputTemplate } = props.registry.templates;
  if (!isLong || TextareaWidget === undefined) return <BaseInputTemplate {...props} />;
  return <TextareaWidget {...props} options={{ ...props.options, ...LONG }} />;
}

/** Properties of a field for texts of several lines. */
const LONG = { autosize: true, minRows: 3, maxRows: 24, styles: { input: { fontFamily: 'var(--app-mono)', fontSize: 13 } } };

const WIDGETS = { CheckboxWidget: BooleanField, TextWidget: TextField };
const TEMPLATES = { DescriptionFieldTemplate: Description };

const UI: UiSchema<unknown> = { 'ui:options': { label: false } };

/** A form for the arguments of any tool, made from its schema. */
export default function ArgumentForm({ schema, value, onChange, onSubmit, violations, children }: ArgumentFormProps) {
  return (
    <Form
      schema={asFormSchema(schema)}
      uiSchema={uiOf(schema)}
      formData={value}
      validator={formValidator}
      onChange={({ formData }) => onChange(formData)}
      onSubmit={onSubmit}
      extraErrors={errorsOf(violations)}
      templates={TEMPLATES}
      widgets={WIDGETS}
      // The errors are shown at their fields; without this they are also logged to the console.
      onError={() => undefined}
      showErrorList={false}
      noHtml5Validate
      idPrefix="argument"
      experimental_defaultFormStateBehavior={{ emptyObjectFields: 'populateRequiredDefaults' }}
    >
      {children}
    </Form>
  );
}

/** The tool's schema for the form, without its title, which the page shows. */
function asFormSchema({ $schema: _dialect, title: _title, description: _description, ...schema }: JsonSchema): RJSFSchema {
  return schema;
}

const LONG_TEXTS = ['command', 'content', 'text', 'prompt', 'script', 'code', 'body', 'query', 'new_text', 'old_text'];

function uiOf(schema: JsonSchema): UiSchema<unknown> {
  const { properties } = schema;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return UI;
  return {
    ...UI,
    ...Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, fieldOf(name, Property.parse(property))])),
  };
}

const Property = z
  .object({ type: z.unknown(), enum: z.unknown(), default: z.unknown(), description: z.string().optional().catch(undefined) })
  .partial()
  .catch({});

/** How one field is shown: its default where nothing is typed yet, and its description where the form's own widgets leave it out. */
function fieldOf(name: string, { type, enum: choices, default: preset, description }: z.output<typeof Property>): UiSchema<unknown> {
  const isText = type === 'string' && choices === undefined;
  const long = isText && LONG_TEXTS.includes(name);
  return {
    ...(long ? { 'ui:widget': 'textarea' } : {}),
    'ui:options': {
      ...(long ? LONG : {}),
      ...(type !== 'boolean' && preset !== undefined ? { placeholder: `${JSON.stringify(preset)} unless you say otherwise` } : {}),
      ...(type !== 'boolean' && description !== undefined ? { description } : {}),
    },
  };
}

function errorsOf(violations: readonly Violation[]): ErrorSchema<unknown> {
  const errors = new ErrorSchemaBuilder<unknown>();
  for (const { pointer, message } of violations) {
    const path = pointer
      .replace(/^\/arguments(?=\/|$)/, '')
      .split('/')
      .slice(1);
    errors.addErrors(
      message,
      path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
    );
  }
  return errors.ErrorSchema;
}
