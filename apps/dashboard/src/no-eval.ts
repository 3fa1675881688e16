import { z } from 'zod';

// zod tests whether it may generate code; the page's Content-Security-Policy reports that test as a violation.
z.config({ jitless: true });
