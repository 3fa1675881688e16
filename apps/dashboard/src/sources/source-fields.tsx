import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { SourceDraft } from './source-draft.js';

/** Properties of an input in the form: its text, its error, and the change handler. */
export type DraftField = (
  name: keyof SourceDraft,
  fault?: string,
) => {
  readonly value: string;
  readonly error: ReactNode;
  readonly onChange: (event: { readonly currentTarget: { readonly value: string } }) => void;
};

interface FieldsProps {
  readonly field: DraftField;
}

/** An MCP server, or an API by its OpenAPI document. */
export function ServerFields({ kind, field }: FieldsProps & { readonly kind: 'mcp' | 'openapi' }) {
  return (
    <>
      {kind === 'mcp' ? (
        <TextInput label="Address" description="Of a Streamable HTTP server." required placeholder="https://…/mcp" {...field('url')} />
      ) : (
        <>
          <TextInput
            label="Document"
            description="Address of the document, of OpenAPI 3 or Swagger 2.0, JSON or YAML."
            required
            placeholder="https://…/openapi.json"
            {...field('document')}
          />
          <TextInput
            label="Base address"
            description="Of all requests; the servers of the document without one."
            {...field('baseUrl', 'url')}
          />
        </>
      )}
      <Textarea
        label="Headers"
        description="One a line, as Name: value. A value $NAME is a secret of the workers' environment that the operator permits."
        autosize
        minRows={2}
        {...field('headers')}
      />
      {kind === 'mcp' && <AuthFields field={field} />}
      <TextInput label="Only these tools" description="Names or globs; all without any." {...field('include')} />
      <TextInput label="Not these tools" description="Names or globs." {...field('exclude')} />
    </>
  );
}

const SECRET = "Name of a variable of the workers' environment that the operator permits.";

/** How Toolyard authenticates to an MCP server. Token endpoints of issuers without metadata are named as JSON. */
function AuthFields({ field }: FieldsProps) {
  const auth = field('auth');
  return (
    <>
      <NativeSelect
        label="Authentication"
        data={[
          { value: 'none', label: 'None, or by a header' },
          { value: 'oauth', label: 'OAuth client credentials' },
          { value: 'person', label: 'OAuth, authorized by a person' },
        ]}
        {...auth}
      />
      {auth.value === 'oauth' && (
        <>
          <TextInput
            label="Issuer"
            description="Of the tokens. Its metadata name the token endpoint."
            required
            placeholder="https://login.example.com"
            {...field('issuer', 'auth.issuer')}
          />
          <TextInput label="Client" description="Its id at the issuer." required {...field('clientId', 'auth.clientId')} />
          <TextInput label="Client secret" description={SECRET} required {...field('clientSecret', 'auth.clientSecret')} />
          <TextInput label="Scopes" description="To ask for; the issuer chooses without any." {...field('scopes', 'auth.scopes')} />
        </>
      )}
      {auth.value === 'person' && (
        <>
          <TextInput
            label="Issuer"
            description="Of the tokens; the one that the server names without it."
            placeholder="https://login.example.com"
            {...field('issuer', 'auth.issuer')}
          />
          <TextInput
            label="Client"
            description="Its id at the issuer; without it, Toolyard registers one there."
            {...field('clientId', 'auth.clientId')}
          />
          <TextInput
            label="Client secret"
            description={`For a client that has one. ${SECRET}`}
            {...field('clientSecret', 'auth.clientSecret')}
          />
          <TextInput
            label="Scopes"
            description="To ask for; those that the server names without any."
            {...field('scopes', 'auth.scopes')}
          />
        </>
      )}
    </>
  );
}

/** A sub-agent; its limits are in its definition as JSON. */
export function AgentFields({ field }: FieldsProps) {
  return (
    <>
      <TextInput label="Description" description="What the models that may call it read." {...field('description')} />
      <NativeSelect
        label="API"
        description="That the server of the model speaks."
        data={[
          { value: 'openai-compatible', label: 'Chat completions, as of OpenAI' },
          { value: 'anthropic', label: 'Messages, as of Anthropic' },
        ]}
        {...field('provider', 'model.provider')}
      />
      <TextInput
        label="Address"
        description="Base address of the API."
        required
        placeholder="https://…/v1"
        {...field('url', 'model.url')}
      />
      <TextInput label="Model" description="Its name, as the server knows it." required {...field('model', 'model.name')} />
      <TextInput label="API key" description={SECRET} {...field('apiKey', 'model.apiKey')} />
      <Textarea label="Instructions" description="The system prompt." autosize minRows={3} {...field('system')} />
      <TextInput label="Tools that it may call" description="Names or patterns; none without any." {...field('tools')} />
    </>
  );
}
