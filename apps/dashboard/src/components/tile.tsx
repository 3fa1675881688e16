import { Paper, Text } from '@mantine/core';
import { LinkPaper } from './links.js';
import classes from './tile.module.css';

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  readonly alarm?: boolean;
  readonly to?: '/calls' | '/approvals' | '/workers';
  readonly search?: { readonly status: string };
}

/** Figure with its name; a link if there is a list behind it. */
export function Tile({ name, value, note, alarm = false, to, search }: TileProps) {
  const inside = (
    <>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text className={classes.value} data-tile={name}>
        {value}
      </Text>
      {note !== undefined && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </>
  );
  const props = { withBorder: true, p: 'sm', className: classes.tile, 'data-alarm': alarm || undefined };
  if (to === undefined) return <Paper {...props}>{inside}</Paper>;
  return (
    <LinkPaper {...props} to={to} {...(search ? { search } : {})}>
      {inside}
    </LinkPaper>
  );
}
