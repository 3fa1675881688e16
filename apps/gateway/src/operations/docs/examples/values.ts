/** Shared values of the documents' examples: one small installation, whose responses were recorded and shortened. */

export const CALL_ID = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
export const BATCH_ID = '07-01JZ8C6A1B2C3D4E5F6G7H8J9K';
export const SCHEDULE_ID = 'sch-6f1c2f0e-6a0a-4f6e-9a53-1f3c6c1f7a10';
export const WORKER_ID = 'host-1-49edc7ad';
export const FOREIGN_WORKER_ID = 'deploys-5b1c';
export const KEY_ID = 'key-01jz8c5w3q4x9r7t2m6k8n0p1v';
export const DELIVERY_ID = 'evt_1-07-4711';
export const FINGERPRINT = '9f86d081884c7d65';
export const CURSOR = 'bXd0NDl1Zm4';
export const [SINCE, UNTIL] = ['2026-01-31T11:00:00.000Z', '2026-01-31T12:00:00.000Z'];
export const ACCEPTED_AT = '2026-01-31T11:58:00.000Z';
export const STARTED_AT = '2026-01-31T11:58:00.004Z';
export const ENDED_AT = '2026-01-31T11:58:08.120Z';
export const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
export const DIGEST = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae';
