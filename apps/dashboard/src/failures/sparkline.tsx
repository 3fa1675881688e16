import classes from './failures-page.module.css';

const HEIGHT = 22;
const BAR = 4;

/** Numbers over time as bars; the tallest has the full height. */
export function Sparkline({ counts, label }: { readonly counts: readonly number[]; readonly label: string }) {
  const most = Math.max(1, ...counts);
  return (
    <svg
      className={classes['spark']}
      viewBox={`0 0 ${counts.length * BAR} ${HEIGHT}`}
      role="img"
      aria-label={label}
      preserveAspectRatio="none"
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
            {...(count === 0 ? { 'data-none': true } : {})}
          />
        );
      })}
    </svg>
  );
}
