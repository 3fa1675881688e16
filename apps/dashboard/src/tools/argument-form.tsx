import '@mantine/dates/styles.css';
import Form from '@rjsf/mantine';
import { ErrorSchemaBuilder, type ErrorSchema, type RJSFSchema, type UiSchema } from '@rjsf/utils';
import type { ReactNode } from 'react';
import type { JsonSchema, Violation } from '#contracts';
import formValidator from './form-validator.js';

interface ArgumentFormProps {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly onSubmit: () => void;
  /** What the gateway said of the arguments. */
  readonly violations: readonly Violation[];
  readonly children: ReactNode;
}

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
      showErrorList={false}
      noHtml5Validate
      idPrefix="argument"
      experimental_defaultFormStateBehavior={{ emptyObjectFields: 'populateRequiredDefaults' }}
    >
      {children}
    </Form>
  );
}

/** A tool's schema is JSON Schema, which is what the form takes; its title would only repeat the page's. */
function asFormSchema({ $schema: _dialect, title: _title, description: _description, ...schema }: JsonSchema): RJSFSchema {
  return schema;
}

const LONG_TEXTS = ['command', 'content', 'text', 'prompt', 'script', 'code', 'body', 'query', 'new_string', 'old_string'];

function uiOf(schema: JsonSchema): UiSchema<unknown> {
  const { properties } = schema;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return UI;
  const long = Object.entries(properties).filter(([name, property]) => LONG_TEXTS.includes(name) && isText(property));
  return { ...UI, ...Object.fromEntries(long.map(([name]) => [name, { 'ui:widget': 'textarea', 'ui:options': { rows: 3 } }])) };
}

function isText(property: unknown): boolean {
  return typeof property === 'object' && property !== null && 'type' in property && property.type === 'string' && !('enum' in property);
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
