/** Complete images of one pixel. */
export const IMAGES = {
  'image/png': image(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4AWIyWl1WDwAAAP//ezGB2AAAAAZJREFUAwAEQwHVpH7YugAAAABJRU5ErkJggg==',
  ),
  'image/jpeg': image(
    '/9j/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z',
  ),
  'image/gif': image('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'),
  'image/webp': image('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA'),
  'image/bmp': Buffer.concat([Buffer.from('BM'), Buffer.from([30, 0, 0, 0]), Buffer.alloc(24)]),
} as const;

function image(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}
