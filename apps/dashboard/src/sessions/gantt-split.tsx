import classes from './gantt.module.css';

const LEAST = 0.2;
const MOST = 0.85;
const STEP = 0.05;
/** As in the stylesheet. */
const USUAL = 0.56;

interface SplitProps {
  /** Share of the width that the names have; undefined for that of the stylesheet. */
  readonly share: number | undefined;
  readonly onShare: (share: number) => void;
}

/** Handle between the names and the bars: dragged, or moved with the arrow keys. */
export function Split({ share, onShare }: SplitProps) {
  const change = (to: number) => onShare(Math.min(MOST, Math.max(LEAST, to)));
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the names"
      aria-valuemin={100 * LEAST}
      aria-valuemax={100 * MOST}
      aria-valuenow={Math.round(100 * (share ?? USUAL))}
      tabIndex={0}
      className={classes.split}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={({ currentTarget, pointerId, clientX }) => {
        const box = currentTarget.parentElement?.getBoundingClientRect();
        if (box !== undefined && currentTarget.hasPointerCapture(pointerId)) change((clientX - box.left) / box.width);
      }}
      onKeyDown={({ key }) => {
        const by = key === 'ArrowLeft' ? -STEP : key === 'ArrowRight' ? STEP : 0;
        if (by !== 0) change((share ?? USUAL) + by);
      }}
    />
  );
}
