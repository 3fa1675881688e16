import { z } from 'zod';

/** Any JSON value. One named schema, so that generated documents show it once. */
export const Json = z.json().meta({ id: 'JsonValue' });
