import classes from './sparkline.module.css';

const HEIGHT = 22;
const BAR = 4;

interface SparklineProps {
  readonly counts: readonly number[];
  /** Red bars. Absent: all are. */
  readonly marked?: readonly boolean[];
  readonly label: string;
  /** Texts of the bars under the pointer. */
  readonly titles?: readonly string[];
  /** True for the full width of its place. */
  readonly isWide?: boolean;
}

/** Numbers over time as bars; the tallest has the full height. */
export function Sparkline({ counts, marked, label, titles, isWide = false }: SparklineProps) {
  const most = Math.max(1, ...counts);
  return (
    <svg
      className={classes['spark']}
      viewBox={`0 0 ${counts.length * BAR} ${HEIGHT}`}
      role="img"
      aria-label={label}
      preserveAspectRatio="none"
      data-wide={isWide || undefined}
    >
      {counts.map((count, index) => {
        const height = count === 0 ? 1 : Math.max(3, (HEIGHT * count) / most);
        return (
          <rect
            key={index}
            x={index * BAR}
            y={HEIGHT - height}
            width={BAR - 1}
            height={height}
            {...(count === 0 && marked === undefined ? { 'data-none': true } : {})}
            {...(marked?.[index] === false ? { 'data-well': true } : {})}
          >
            {titles?.[index] !== undefined && <title>{titles[index]}</title>}
          </rect>
        );
      })}
    </svg>
  );
}
