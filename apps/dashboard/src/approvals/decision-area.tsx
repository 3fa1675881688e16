import { Text, type ButtonProps } from '@mantine/core';
import { createContext, useContext, useEffect, useRef, useState, type CSSProperties, type ReactNode, type SyntheticEvent } from 'react';
import { ScopedButton } from '../components/scoped-button.js';
import { useKeys } from '../components/use-keys.js';
import { OUTAGE_TEXT, useOutage } from '../stream/use-outage.js';
import classes from './decision-area.module.css';
import { Steadiness, type Drawn } from './steadiness.js';

const BUTTONS = '[data-decides]';
const REFUSAL_MS = 4000;
/** Room that a refusal needs below a button; above it where there is less. */
const REFUSAL_PX = 40;

const IsSteady = createContext<boolean | undefined>(undefined);

interface Refusal {
  readonly why: string;
  readonly at: CSSProperties;
}

interface DecisionAreaProps {
  /** Identifies the question and its state. */
  readonly shown: string;
  /** Keys that answer. One that is held answers nothing. */
  readonly keys?: readonly (readonly [key: string, run: () => void])[];
  readonly children: ReactNode;
}

/**
 * A question with the buttons (`DecisionButton`) and keys that answer it. Takes an answer only when the question and the buttons have been
 * the same, at the same places, for 500 ms, and while events arrive; other presses are refused visibly.
 */
export function DecisionArea({ shown, keys = [], children }: DecisionAreaProps) {
  const area = useRef<HTMLDivElement>(null);
  const [steadiness] = useState(() => new Steadiness());
  const [isSteady, setSteady] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const outage = useOutage();
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
    const timer = setTimeout(() => setRefusal(undefined), REFUSAL_MS);
    return () => clearTimeout(timer);
  }, [refusal]);
  const refuseUnless = (isSteadyNow: boolean, button: Element | null | undefined) => {
    const { left = 0, top = 0, bottom = 0 } = button?.getBoundingClientRect() ?? {};
    const place = bottom + REFUSAL_PX > innerHeight ? { bottom: innerHeight - top + 4 } : { top: bottom + 4 };
    const why = outage ? OUTAGE_TEXT : isSteadyNow ? undefined : 'Moved or changed a moment ago: press again.';
    setRefusal(why === undefined ? undefined : { why, at: { left: `clamp(8px, ${left}px, 100vw - 340px)`, ...place } });
    return why === undefined;
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
        <Text role="status" className={classes.refusal} size="xs" style={refusal?.at} data-refuses={refusal !== undefined}>
          {refusal?.why}
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
export function DecisionButton({ isBlocked = false, whyNot, ...props }: DecisionButtonProps) {
  const outage = useOutage();
  const isSteady = useContext(IsSteady);
  if (isSteady === undefined) throw new Error('A DecisionButton needs a DecisionArea around it');
  const whyOff = outage ? OUTAGE_TEXT : whyNot;
  return <ScopedButton scope="approve" data-decides isBlocked={isBlocked || !isSteady} whyNot={whyOff} {...props} />;
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
