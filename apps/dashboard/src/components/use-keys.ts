import { useHotkeys } from '@mantine/hooks';

/** Keys of a page, not of a dialog before it. Where a person types they are letters; beside radio buttons only arrows keep their own meaning. */
export function useKeys(keys: readonly (readonly [key: string, run: (event: KeyboardEvent) => void])[]): void {
  useHotkeys(
    keys.map(([key, run]) => [
      key,
      (event) => {
        if (isTakenBy(event.target, key)) return;
        event.preventDefault();
        run(event);
      },
      { preventDefault: false },
    ]),
    [],
  );
}

function isTakenBy(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('[role=dialog]') !== null) return true;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  if (!(target instanceof HTMLInputElement)) return false;
  return !['radio', 'checkbox', 'button'].includes(target.type) || key.startsWith('Arrow');
}
