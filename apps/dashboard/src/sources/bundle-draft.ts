import { SourceDefinition, type BundleSetting, type UploadedBundle } from '#contracts';
import type { FieldFault } from './source-draft.js';

/** A bundle while its settings are filled in; each value as its input has it. */
export interface BundleDraft {
  /** Bundle after its upload. */
  readonly bundle: UploadedBundle | undefined;
  readonly values: Readonly<Record<string, string>>;
}

export const EMPTY_BUNDLE: BundleDraft = { bundle: undefined, values: {} };

/** Files and folders of the workers are named in the config file. */
export function canBeSet({ type }: BundleSetting): boolean {
  return type !== 'directory' && type !== 'file';
}

/** Definition in the form of the API, or its faults by field; settings are fields such as `config.token`. */
export function bundleDefinitionOf(
  name: string,
  { bundle, values }: BundleDraft,
): { definition: SourceDefinition } | { faults: FieldFault[] } {
  const settings = bundle?.settings ?? [];
  const given = settings.flatMap((setting) => {
    const value = valueOf(setting, values[setting.name] ?? '');
    return value === undefined ? [] : [[setting.name, value] as const];
  });
  const missing = settings
    .filter(
      ({ name: setting, required, default: byDefault }) => required && byDefault === undefined && !given.some(([it]) => it === setting),
    )
    .map((setting) => ({
      field: `config.${setting.name}`,
      message: canBeSet(setting) ? 'expected a value' : 'only the config file can set it',
    }));
  const read = SourceDefinition.safeParse({
    name: name.trim(),
    kind: 'mcp',
    bundle: { sha256: bundle?.sha256, ...(given.length === 0 ? {} : { config: Object.fromEntries(given) }) },
  });
  if (read.success && missing.length === 0) return { definition: read.data };
  const faults = (read.error?.issues ?? []).map(({ path: [first, part, setting], message }) => {
    if (part === 'config') return { field: `config.${String(setting)}`, message };
    return first === 'bundle' ? { field: 'bundle', message: 'expected a file' } : { field: String(first), message };
  });
  return { faults: [...faults, ...missing] };
}

/** A sensitive one is the name of a variable; a list has a value on each line. Undefined: not set. */
function valueOf({ sensitive, multiple }: BundleSetting, text: string): string | string[] | { readonly secretEnv: string } | undefined {
  if (text.trim() === '') return undefined;
  if (sensitive) return { secretEnv: text.trim().replace(/^\$/, '') };
  return multiple ? text.split('\n').filter((line) => line !== '') : text;
}
