import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { EgressError, EgressPolicy, egressFetch } from '#sandbox';
import { addressFault, namedFetch } from './address-fault.js';

const URL_GIVEN = 'https://tools.example.com/mcp?key=secret';
const SHOWN = 'https://tools.example.com/mcp';
const coded = (code: string, message = code) => Object.assign(new Error(message), { code });

describe('the reason why an address of a source does not answer', () => {
  it.each([
    ['ECONNREFUSED', `Connection refused at ${SHOWN}: is the server running?`],
    ['ENOTFOUND', `Host name not found at ${SHOWN}: is the name right?`],
    ['EAI_AGAIN', `Host name not resolved at ${SHOWN}: does name resolution (DNS) work on the worker?`],
    ['UND_ERR_CONNECT_TIMEOUT', `No connection in time at ${SHOWN}: does a firewall stop it?`],
    ['EHOSTUNREACH', `No route at ${SHOWN}: is that network reachable from the worker?`],
    ['UND_ERR_SOCKET', `Connection closed without an answer at ${SHOWN}: what does the log of the server say?`],
    ['ERR_SSL_WRONG_VERSION_NUMBER', `TLS failed at ${SHOWN}: does the server speak https there, or http?`],
    ['CERT_HAS_EXPIRED', `TLS failed (CERT_HAS_EXPIRED) at ${SHOWN}: is the certificate one that the worker trusts?`],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', `TLS failed (DEPTH_ZERO_SELF_SIGNED_CERT) at ${SHOWN}: is the certificate one that the worker trusts?`],
  ])('explains for %s the address of a source, the reason and what to check, without the query', (code, sentence) => {
    const failed = new TypeError('fetch failed', { cause: coded(code) });
    expect(addressFault(failed, URL_GIVEN)?.message).toBe(sentence);
    // Errors as of a name with several addresses, one reason each.
    const each = new TypeError('fetch failed', { cause: new AggregateError([coded(code)]) });
    expect(addressFault(each, URL_GIVEN)?.message).toBe(sentence);
  });

  it('keeps a refusal of the egress policy and unknown reasons unchanged', () => {
    const refusal = new EgressError('blocked', 'Blocked: not public', false, coded('ECONNREFUSED'));
    expect(addressFault(new TypeError('fetch failed', { cause: refusal }), URL_GIVEN)).toBeUndefined();
    expect(addressFault(new Error('odd'), URL_GIVEN)).toBeUndefined();
  });

  it('explains a port without a listener, and http in place of https', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const guarded = namedFetch(egressFetch(new EgressPolicy([host])));
    await expect(guarded.fetch(`https://${host}/mcp`)).rejects.toThrow(
      `TLS failed at https://${host}/mcp: does the server speak https there`,
    );
    server.close();
    await once(server, 'close');
    await expect(guarded.fetch(`http://${host}/mcp`)).rejects.toThrow(`Connection refused at http://${host}/mcp: is the server running?`);
    await guarded.close();
  });
});
