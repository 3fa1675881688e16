import { notifications } from '@mantine/notifications';
import { messageOf } from './states.js';

export function notifySuccess(message: string): void {
  notifications.show({ closeButtonProps: { 'aria-label': 'Close' }, message, color: 'teal', autoClose: 4000 });
}

export function notifyError(title: string, error: unknown): void {
  notifications.show({ closeButtonProps: { 'aria-label': 'Close' }, title, message: messageOf(error), color: 'red', autoClose: 10_000 });
}

/** A message of an agent: it stays until it is closed. */
export function notifyMessage(message: string): void {
  notifications.show({ title: 'The agent says', message, color: 'blue', autoClose: false });
}
