import { Text, type ButtonProps } from '@mantine/core';
import { createContext, useContext, useEffect, useRef, useState, type CSSProperties, type ReactNode, type SyntheticEvent } from 'react';
import { ScopedButton } from '../components/scoped-button.js';
import { useKeys } from '../components/use-keys.js';
import classes from './decision-area.module.css';
import { Steadiness, type Drawn } from './steadiness.js';

const BUTTONS = '[data-decides]';
const REFUSAL_MS = 4000;

const IsSteady = createContext<boolean | undefined>(undefined);

interface DecisionAreaProps {
  /** Names the question that is asked and its state. */
  readonly shown: string;
  /** Keys that answer. One that is held answers nothing. */
  readonly keys?: readonly (readonly [key: string, run: () => void])[];
  readonly children: ReactNode;
}

/**
 * A question with the buttons (`DecisionButton`) and keys that answer it. Takes an answer only when the question and the buttons have been
 * the same, at the same places, for 500 ms; other presses are refused visibly.
 */
export function DecisionArea({ shown, keys = [], children }: DecisionAreaProps) {
  const area = useRef<HTMLDivElement>(null);
  const [steadiness] = useState(() => new Steadiness());
  const [isSteady, setSteady] = useState(false);
  const [refusedAt, setRefusedAt] = useState<CSSProperties>();
  const wasSteadyAtPress = useRef(true);
  const look = () => area.current !== null && steadiness.isSteady(drawn(area.current), performance.now());
  useEffect(() => {
    let frame = 0;
    const onFrame = () => {
      setSteady(look());
      frame = requestAnimationFrame(onFrame);
    };
    onFrame();
    return () => cancelAnimationFrame(frame);
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => setRefusedAt(undefined), REFUSAL_MS);
    return () => clearTimeout(timer);
  }, [refusedAt]);
  const refuseUnless = (isTaken: boolean, button: Element | null | undefined) => {
    const { left = 0, bottom = 0 } = button?.getBoundingClientRect() ?? {};
    setRefusedAt(isTaken ? undefined : { left: `clamp(8px, ${left}px, 100vw - 340px)`, top: bottom + 4 });
    return isTaken;
  };
  useKeys(
    keys.map(([key, run]) => [
      key,
      ({ repeat }) => {
        if (!repeat && refuseUnless(look(), area.current?.querySelector(BUTTONS))) run();
      },
    ]),
  );
  const onClick = (event: SyntheticEvent<Element, MouseEvent>) => {
    const button = buttonOf(event);
    const isPointer = event.nativeEvent.detail > 0;
    if (button && !refuseUnless(look() && (wasSteadyAtPress.current || !isPointer), button)) event.stopPropagation();
  };
  return (
    <IsSteady value={isSteady}>
      <div
        ref={area}
        data-shown={shown}
        data-takes-keys={keys.length > 0 ? isSteady : undefined}
        onPointerDownCapture={() => void (wasSteadyAtPress.current = look())}
        onClickCapture={onClick}
      >
        {children}
        <Text role="status" className={classes.refusal} size="xs" style={refusedAt} data-refuses={refusedAt !== undefined}>
          {refusedAt && 'Moved or changed a moment ago: press again.'}
        </Text>
      </div>
    </IsSteady>
  );
}

interface DecisionButtonProps extends ButtonProps {
  readonly whyNot?: string | undefined;
  readonly isBlocked?: boolean;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** A button that answers the question of the `DecisionArea` around it. */
export function DecisionButton({ isBlocked = false, ...props }: DecisionButtonProps) {
  const isSteady = useContext(IsSteady);
  if (isSteady === undefined) throw new Error('A DecisionButton needs a DecisionArea around it');
  return <ScopedButton scope="approve" data-decides isBlocked={isBlocked || !isSteady} {...props} />;
}

function buttonOf({ target }: SyntheticEvent): Element | null {
  return target instanceof Element ? target.closest(BUTTONS) : null;
}

/** The area as it is drawn now. */
function drawn(area: HTMLElement): Drawn {
  const buttons = [...area.querySelectorAll(BUTTONS)];
  let [scrolledX, scrolledY] = [0, 0];
  for (let each: Element | null = area; each !== null; each = each.parentElement) {
    scrolledX += each.scrollLeft;
    scrolledY += each.scrollTop;
  }
  const places = buttons.map((button) => button.getBoundingClientRect());
  return {
    what: [area.dataset['shown'], ...buttons.map(({ textContent }) => textContent)].join('\n'),
    inWindow: places.flatMap(({ left, top, right, bottom }) => [left, top, right, bottom]),
    inDocument: places.flatMap(({ left, top, right, bottom }) => [
      left + scrolledX,
      top + scrolledY,
      right + scrolledX,
      bottom + scrolledY,
    ]),
  };
}
