import { notifications } from '@mantine/notifications';
import { messageOf } from './states.js';

/** The library's grey below a title has too little contrast. */
const READABLE = { description: { color: 'var(--mantine-color-text)' } };

export function notifySuccess(message: string): void {
  notifications.show({ closeButtonProps: { 'aria-label': 'Close' }, message, color: 'teal', autoClose: 4000 });
}

export function notifyError(title: string, error: unknown): void {
  notifications.show({
    closeButtonProps: { 'aria-label': 'Close' },
    title,
    message: messageOf(error),
    color: 'red',
    autoClose: 10_000,
    styles: READABLE,
  });
}

/** A message of an agent: it stays until it is closed. */
export function notifyMessage(message: string): void {
  notifications.show({ title: 'The agent says', message, color: 'blue', autoClose: false, styles: READABLE });
}
