import { FileInput, NativeSelect, Text, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { BundleSetting } from '#contracts';
import { Refusal } from '../components/refusal.js';
import { useToolyard } from '../stream/toolyard.js';
import { canBeSet, EMPTY_BUNDLE, type BundleDraft } from './bundle-draft.js';

interface BundleFieldsProps {
  readonly draft: BundleDraft;
  readonly onChange: (draft: BundleDraft) => void;
  readonly faultOf: (field: string) => ReactNode;
}

/** A file that is uploaded when it is chosen, then an input for each of its settings. */
export function BundleFields({ draft, onChange, faultOf }: BundleFieldsProps) {
  const { client } = useToolyard();
  const upload = useMutation({
    mutationFn: (file: File) => client.sources.uploadBundle(file),
    onSuccess: (bundle) => onChange({ bundle, values: {} }),
  });
  const choose = (file: File | null) => {
    onChange(EMPTY_BUNDLE);
    upload.reset();
    if (file !== null) upload.mutate(file);
  };
  const { bundle, values } = draft;
  return (
    <>
      <FileInput
        label="Bundle"
        description={upload.isPending ? 'Uploading…' : 'A file .mcpb, at most 32 MiB. Its server runs in the sandbox of the workers.'}
        placeholder="Choose a file"
        accept=".mcpb,.dxt"
        required
        clearable
        clearButtonProps={{ 'aria-label': 'Remove the file' }}
        error={faultOf('bundle')}
        onChange={choose}
      />
      {upload.isError && <Refusal title="The bundle was not uploaded" error={upload.error} />}
      {bundle !== undefined && (
        <Text size="sm" data-bundle={bundle.sha256}>
          {bundle.name} {bundle.version}, SHA-256 <span style={{ fontFamily: 'var(--app-mono)' }}>{bundle.sha256.slice(0, 16)}…</span>
          {bundle.description !== undefined && `: ${bundle.description}`}
        </Text>
      )}
      {bundle?.settings.map((setting) => (
        <SettingField
          key={setting.name}
          setting={setting}
          value={values[setting.name] ?? ''}
          error={faultOf(`config.${setting.name}`)}
          onChange={(value) => onChange({ bundle, values: { ...values, [setting.name]: value } })}
        />
      ))}
    </>
  );
}

interface SettingFieldProps {
  readonly setting: BundleSetting;
  readonly value: string;
  readonly error: ReactNode;
  readonly onChange: (value: string) => void;
}

function SettingField({ setting, value, error, onChange }: SettingFieldProps) {
  const { name, title = name, type, required, sensitive, multiple, default: byDefault } = setting;
  const shared = {
    label: title,
    description: aboutOf(setting),
    required: required && byDefault === undefined,
    disabled: !canBeSet(setting),
    value,
    error,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) => onChange(event.currentTarget.value),
  };
  if (type === 'boolean') return <NativeSelect data={[{ value: '', label: 'as the bundle has it' }, 'true', 'false']} {...shared} />;
  if (multiple && !sensitive) return <Textarea autosize minRows={2} {...shared} />;
  const shown = sensitive ? '$NAME' : byDefault === undefined ? undefined : String(byDefault);
  return <TextInput placeholder={shown} {...shared} />;
}

function aboutOf(setting: BundleSetting): string {
  const { description = '', sensitive, multiple } = setting;
  const how = !canBeSet(setting)
    ? 'Names files of the workers: only the config file can set it.'
    : sensitive
      ? "Name of a variable of the workers' environment that the operator permits."
      : multiple
        ? 'One a line.'
        : '';
  return [description, how].filter((text) => text !== '').join(' ');
}
