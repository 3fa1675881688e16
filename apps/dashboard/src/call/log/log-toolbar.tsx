import { ActionIcon, Text, TextInput, Tooltip } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import {
  IconAlertTriangle,
  IconArrowBarToDown,
  IconCheck,
  IconChevronDown,
  IconChevronUp,
  IconClock,
  IconCopy,
  IconSearch,
  IconTextWrap,
  type TablerIcon,
} from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import classes from './log.module.css';
import type { Lines } from './terminal-text.js';
import { countText } from '../../components/count-text.js';

interface LogToolbarProps {
  readonly lines: Lines;
  readonly label: string;
  readonly find: string;
  readonly onFind: (text: string) => void;
  /** How many lines have the text. */
  readonly found: number;
  /** Index of the one that is shown. */
  readonly current: number;
  /** State of other lines that are being loaded, or are missing. */
  readonly rest: 'loading' | 'missing' | undefined;
  readonly onStep: (by: number) => void;
  readonly wraps: boolean;
  readonly onWrap: (wraps: boolean) => void;
  readonly hasTimes: boolean;
  /** Undefined where no times are known. */
  readonly onTimes: ((hasTimes: boolean) => void) | undefined;
  readonly onEnd: () => void;
  /** False if no line is about an error. */
  readonly onFirstError: () => boolean;
  readonly children: ReactNode;
}

/** Find, and what changes how a log is shown. */
export function LogToolbar(props: LogToolbarProps) {
  const { lines, label, find, onFind, found, current, rest, onStep, wraps, onWrap, hasTimes, onTimes, onEnd, onFirstError, children } =
    props;
  const { copy, copied } = useClipboard({ timeout: 1500 });
  const [isClean, setClean] = useState(false);
  const copyAll = () => copy(Array.from({ length: lines.length }, (_, index) => lines.text(index)).join('\n'));
  return (
    <div className={classes.toolbar} role="toolbar" aria-label={`${label}: tools`}>
      <TextInput
        size="xs"
        className={classes.find}
        aria-label="Find in the output"
        placeholder="Find"
        leftSection={<IconSearch size={14} aria-hidden />}
        value={find}
        onChange={({ currentTarget }) => onFind(currentTarget.value)}
        onKeyDown={({ key, shiftKey }) => {
          if (key === 'Enter' && found > 0) onStep(shiftKey ? -1 : 1);
          if (key === 'Escape') onFind('');
        }}
      />
      {find !== '' && (
        <>
          <Text size="xs" role="status" className={classes.count}>
            {foundText(found, current, rest)}
          </Text>
          <Tool icon={IconChevronUp} label="Previous" disabled={found === 0} onClick={() => onStep(-1)} />
          <Tool icon={IconChevronDown} label="Next" disabled={found === 0} onClick={() => onStep(1)} />
        </>
      )}
      <span className={classes.space} />
      {isClean && (
        <Text size="xs" role="status">
          no line about an error
        </Text>
      )}
      <Tool icon={IconAlertTriangle} label="To the first error" onClick={() => setClean(!onFirstError())} />
      <Tool icon={IconArrowBarToDown} label="To the end" onClick={onEnd} />
      <Tool icon={IconTextWrap} label="Wrap long lines" isOn={wraps} onClick={() => onWrap(!wraps)} />
      {onTimes && <Tool icon={IconClock} label="Times" isOn={hasTimes} onClick={() => onTimes(!hasTimes)} />}
      <Tool icon={copied ? IconCheck : IconCopy} label={copied ? 'Copied' : 'Copy all'} onClick={copyAll} />
      {children}
    </div>
  );
}

function foundText(found: number, current: number, rest: LogToolbarProps['rest']): string {
  if (rest === 'loading') return 'searching all of it …';
  if (found > 0) return `${current + 1} of ${countText(found, 'line')}`;
  return rest === 'missing' ? 'not found in what is here' : 'not found';
}

interface ToolProps {
  readonly icon: TablerIcon;
  readonly label: string;
  readonly isOn?: boolean;
  readonly disabled?: boolean;
  readonly loading?: boolean;
  readonly onClick: () => void;
}

/** A button of the toolbar; with `isOn` it is a switch. */
export function Tool({ icon: Icon, label, isOn, disabled = false, loading = false, onClick }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        size={26}
        variant="subtle"
        className={classes.tool}
        aria-label={label}
        {...(isOn === undefined ? {} : { 'aria-pressed': isOn })}
        disabled={disabled}
        loading={loading}
        onClick={onClick}
      >
        <Icon size={15} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
