import { Code, Text, useComputedColorScheme } from '@mantine/core';
import { useMemo } from 'react';
import { JsonView, collapseAllNested, allExpanded, darkStyles, defaultStyles } from 'react-json-view-lite';
import 'react-json-view-lite/dist/index.css';
import { escapeInvisible, markedText } from '#subject';
import classes from './json.module.css';

/** A larger value is shown as text: a tree of 100,000 nodes would freeze the page. */
const TREE_CHARS = 200_000;
const TEXT_CHARS = 500_000;

/** Colours with enough contrast in light and dark mode, unlike the viewer's. */
const INK = {
  container: classes['container'] ?? '',
  stringValue: classes['string'] ?? '',
  numberValue: classes['number'] ?? '',
  booleanValue: classes['other'] ?? '',
  nullValue: classes['other'] ?? '',
  undefinedValue: classes['other'] ?? '',
  otherValue: classes['other'] ?? '',
  stringifyStringValues: true,
};

interface JsonProps {
  readonly value: unknown;
  readonly label: string;
  /** Marks names that may imitate others, with the reason. */
  readonly marksNames?: boolean;
}

/** Any JSON value as a tree. */
export function Json({ value, label, marksNames = false }: JsonProps) {
  const write = marksNames ? markedText : escapeInvisible;
  const dark = useComputedColorScheme('light') === 'dark';
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? 'undefined', [value]);
  const shown = useMemo(() => shownValue(value, write), [value, write]);
  const base = dark ? darkStyles : defaultStyles;
  if (typeof shown !== 'object' || shown === null || text.length > TREE_CHARS)
    return (
      <>
        <Code block className={classes.text}>
          {write(text.slice(0, TEXT_CHARS))}
        </Code>
        {text.length > TEXT_CHARS && <Text size="xs">… {(text.length - TEXT_CHARS).toLocaleString()} more characters</Text>}
      </>
    );
  return (
    <div className={classes.tree}>
      <JsonView
        data={shown}
        aria-label={label}
        shouldExpandNode={text.length < 8000 ? allExpanded : collapseAllNested}
        clickToExpandNode
        style={{ ...base, ...INK }}
      />
    </div>
  );
}

/** The value with all its texts as `write` has them. */
function shownValue(value: unknown, write: (text: string) => string): unknown {
  if (typeof value === 'string') return write(value);
  if (Array.isArray(value)) return value.map((inner) => shownValue(inner, write));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [write(name), shownValue(inner, write)]));
}
