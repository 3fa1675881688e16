import type { z } from 'zod';

export function renewed(text: string, schemas: { apps: Record<string, z.ZodObject>; file: z.ZodType }): string;
