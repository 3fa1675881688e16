import { z } from 'zod';

// zod makes functions from text where that is allowed, and finds out by trying; this page allows it to nobody.
z.config({ jitless: true });
