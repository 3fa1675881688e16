import { useEffect, useRef } from 'react';
import classes from './gantt.module.css';
import { markOf, type SessionRow } from './session-rows.js';

const COLORS = { failed: '#e03131', waiting: '#f08c00', running: '#1c7ed6', message: '#7048e8' } as const;
const LEAST_PX = 2;

interface MinimapProps {
  readonly rows: readonly SessionRow[];
  /** The part of the rows in view, as shares of all. */
  readonly from: number;
  readonly to: number;
  /** Shows the rows around a share of all. */
  readonly onShow: (share: number) => void;
  /** Called when the pointer is pressed and released. */
  readonly onHold: (isHeld: boolean) => void;
}

/** All rows beside the list: what failed, waits, runs or was said, and the part in view. For the eye and the pointer; the list has it in words. */
export function Minimap({ rows, from, to, onShow, onHold }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context) return;
    const { clientWidth, clientHeight } = element;
    element.width = clientWidth;
    element.height = clientHeight;
    const height = clientHeight / Math.max(1, rows.length);
    rows.forEach((row, index) => {
      const mark = markOf(row);
      if (mark === undefined) return;
      context.fillStyle = COLORS[mark];
      context.fillRect(0, Math.floor(index * height), clientWidth, Math.max(LEAST_PX, height));
    });
  }, [rows]);
  const show = ({ currentTarget, clientY }: React.PointerEvent<HTMLElement>) => {
    const { top, height } = currentTarget.getBoundingClientRect();
    onShow(Math.min(1, Math.max(0, (clientY - top) / height)));
  };
  return (
    <div
      className={classes.minimap}
      aria-hidden
      data-minimap
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        onHold(true);
        show(event);
      }}
      onLostPointerCapture={() => onHold(false)}
      onPointerMove={(event) => event.buttons === 1 && show(event)}
    >
      <canvas ref={canvas} className={classes.marks} />
      <span className={classes.view} style={{ top: `${100 * from}%`, height: `${100 * Math.max(0, to - from)}%` }} />
    </div>
  );
}
