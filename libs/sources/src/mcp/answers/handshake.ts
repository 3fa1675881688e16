import { specTypeSchemas, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/client';
import { fieldsOf, textOf, type Fields } from '../../fields.js';
import { isValid, withCacheFacts, withoutNulls } from './tolerant-fields.js';

/** Revision that a server speaks which names none that is known: servers assume it too where a client names none. */
const ASSUMED_VERSION = '2025-03-26';

/**
 * The result of `initialize` as the client takes it: what is missing is assumed, and what cannot be read is left out. Every
 * server is asked for its tools and may say that they changed, whatever it announced.
 */
export function readHandshake(result: Fields): Fields {
  const { protocolVersion, capabilities, serverInfo, instructions, _meta, ...rest } = result;
  const named = fieldsOf(serverInfo);
  return {
    ...rest,
    protocolVersion: SUPPORTED_PROTOCOL_VERSIONS.find((it) => it === protocolVersion) ?? ASSUMED_VERSION,
    capabilities: { ...readCapabilities(fieldsOf(capabilities)), tools: { listChanged: true } },
    serverInfo: isValid(specTypeSchemas.Implementation, withoutNulls(named))
      ? withoutNulls(named)
      : { name: textOf(named['name']) ?? 'unknown', version: textOf(named['version']) ?? 'unknown' },
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}

/**
 * The result of `server/discover` as the client takes it, in the same way. Without versions it is none: the server is one
 * of an older revision that answers anything.
 */
export function readDiscovery(result: Fields): Fields {
  const { supportedVersions, capabilities, instructions, ...rest } = result;
  const versions = [supportedVersions].flat().filter((it) => typeof it === 'string');
  if (versions.length === 0) return result;
  return {
    ...withCacheFacts(rest),
    supportedVersions: versions,
    capabilities: { tools: {}, ...readCapabilities(fieldsOf(capabilities)) },
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}

function readCapabilities(capabilities: Fields): Fields {
  return Object.fromEntries(
    Object.entries(capabilities).filter(([name, value]) => isValid(specTypeSchemas.ServerCapabilities, { [name]: value })),
  );
}
