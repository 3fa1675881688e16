import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';
import type { CallOutcome, CallStatus } from '#contracts';

const sky: MantineColorsTuple = [
  '#e8f4ff',
  '#d2e5f9',
  '#a5c9ee',
  '#74abe4',
  '#4d92db',
  '#3482d6',
  '#1f74cc',
  '#1463b0',
  '#07589e',
  '#004b8d',
];

export const theme = createTheme({
  colors: { sky },
  primaryColor: 'sky',
  primaryShade: { light: 7, dark: 6 },
  defaultRadius: 'sm',
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.35rem' }, h2: { fontSize: '1.05rem' }, h3: { fontSize: '0.95rem' } } },
  cursorType: 'pointer',
  // Mantine draws it as a <header>, which would be a second banner of the page.
  components: {
    ModalHeader: { defaultProps: { role: 'none' } },
    // Forms from schemas are in one: as wide as what they are in.
    Container: { defaultProps: { fluid: true } },
  },
});

/** Dimmed text with a contrast of at least 4.5 to 1 on every background (WCAG 1.4.3). */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#565d64',
    '--mantine-color-placeholder': '#656c73',
    '--mantine-color-error': '#b02525',
    '--mantine-color-orange-light-color': '#933500',
    '--mantine-color-yellow-light-color': '#7a4a00',
    '--mantine-color-teal-light-color': '#066048',
  },
  dark: { '--mantine-color-dimmed': '#a3a8ae', '--mantine-color-placeholder': '#9a9fa5', '--mantine-color-error': '#ff9b9b' },
});

/** Name and colour of each state. `error` (completed, with an error result), `retrying`, `suspended` and `cancelling` exist on pages only. */
export type ShownState = Exclude<CallStatus, 'ended'> | CallOutcome | 'error' | 'retrying' | 'suspended' | 'cancelling';

export const STATES: Readonly<Record<ShownState, { readonly label: string; readonly color: string }>> = {
  waiting_approval: { label: 'Needs approval', color: 'yellow' },
  waiting_input: { label: 'Needs input', color: 'yellow' },
  queued: { label: 'Queued', color: 'gray' },
  running: { label: 'Running', color: 'blue' },
  retrying: { label: 'Retrying', color: 'orange' },
  suspended: { label: 'Suspended', color: 'cyan' },
  cancelling: { label: 'Cancelling', color: 'gray' },
  completed: { label: 'Completed', color: 'teal' },
  error: { label: 'Error', color: 'red' },
  failed: { label: 'Failed', color: 'red' },
  cancelled: { label: 'Cancelled', color: 'gray' },
  timed_out: { label: 'Timed out', color: 'orange' },
  denied: { label: 'Denied', color: 'grape' },
  unknown: { label: 'Unknown', color: 'pink' },
};
