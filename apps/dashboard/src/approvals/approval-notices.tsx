import { Button, Tooltip } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconBell, IconBellOff } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { CallEvent } from '#contracts';
import { escapeInvisible } from '#subject';
import { useToolyard } from '../stream/toolyard.js';

/** Tag of all notifications: each replaces the previous one, regardless of the number of waiting calls. */
const TAG = 'toolyard-approvals';
const SHOWN_CHARS = 80;

function useSwitch() {
  return useLocalStorage({ key: 'toolyard.notify', defaultValue: false, getInitialValueInEffect: false });
}

/**
 * Notifies the person on the desktop of waiting calls while the tab is in the background. Shows no arguments, since a lock screen
 * may show it.
 */
export function ApprovalNotices() {
  const { feed, board } = useToolyard();
  const navigate = useNavigate();
  const [isOn] = useSwitch();
  useEffect(() => {
    if (!isOn || !('Notification' in window)) return undefined;
    const show = (asked: CallEvent) => {
      const { waitingApproval } = board.now.counts();
      const title = waitingApproval > 1 ? `${waitingApproval} calls wait for you` : 'A call waits for you';
      const who = escapeInvisible(asked.agentid ?? 'An agent').slice(0, SHOWN_CHARS);
      const notice = new Notification(title, { body: `${who} asks to run ${asked.tool}`, tag: TAG });
      notice.addEventListener('click', () => {
        window.focus();
        notice.close();
        void navigate({ to: '/approvals' });
      });
    };
    return feed.listen((events) => {
      const asked = events.findLast(({ type }) => type === 'call.approval_requested');
      if (asked === undefined || document.hasFocus() || Notification.permission !== 'granted') return;
      // Runs in a microtask: the board may receive the events after this listener.
      queueMicrotask(() => show(asked));
    });
  }, [board, feed, isOn, navigate]);
  return null;
}

/** Switches desktop notifications on, asking the browser for them, and off. */
export function NoticesButton() {
  const [isOn, setOn] = useSwitch();
  const [permission, setPermission] = useState(() => ('Notification' in window ? Notification.permission : 'denied'));
  const isActive = isOn && permission === 'granted';
  const ask = async () => {
    if (isActive) return setOn(false);
    const answer = await Notification.requestPermission();
    setPermission(answer);
    return setOn(answer === 'granted');
  };
  const about =
    permission === 'denied' ? 'The browser does not allow notifications of this page.' : 'When a call asks while this tab is not in front.';
  return (
    <Tooltip label={about} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      <Button
        size="xs"
        variant="default"
        aria-pressed={isActive}
        {...(permission === 'denied'
          ? { 'data-disabled': true, 'aria-disabled': true, 'aria-description': about }
          : { onClick: () => void ask() })}
        leftSection={isActive ? <IconBellOff size={15} aria-hidden /> : <IconBell size={15} aria-hidden />}
      >
        {isActive ? 'Stop notifying me' : 'Notify me'}
      </Button>
    </Tooltip>
  );
}
