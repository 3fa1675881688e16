import { Badge } from '@mantine/core';
import type { Risk } from '#contracts';

const COLORS = { low: 'gray', medium: 'yellow', high: 'red' } as const satisfies Record<Risk, string>;

interface RiskBadgeProps {
  /** Absent where the call was not evaluated. */
  readonly risk: Risk | undefined;
  readonly size?: 'xs' | 'sm';
  /** Omits the label below a heading with it. */
  readonly short?: boolean;
}

/** Risk of a call by the policy. */
export function RiskBadge({ risk, size = 'xs', short = false }: RiskBadgeProps) {
  if (risk === undefined) return null;
  return (
    <Badge variant="dot" size={size} color={COLORS[risk]} tt="none" miw="max-content" data-risk={risk}>
      {short ? risk : `${risk} risk`}
    </Badge>
  );
}
