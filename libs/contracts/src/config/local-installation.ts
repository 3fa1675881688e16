/**
 * Where `npm start` is found by programs of the same machine: its data folder (`TOOLYARD_DATA`) holds `key`, the API key, and, while it
 * runs, `address`, the URL of the gateway.
 */
export const LOCAL_INSTALLATION = { url: 'http://127.0.0.1:7411', data: '.toolyard', keyFile: 'key', addressFile: 'address' } as const;
