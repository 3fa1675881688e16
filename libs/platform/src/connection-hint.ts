/** Advice for errors of the connection to Redis at the start. */
const HINTS: readonly (readonly [error: RegExp, hint: string])[] = [
  [
    /\b(NOAUTH|WRONGPASS)\b|invalid password/,
    'Redis wants a name and password: put the right ones into REDIS_URL, as in redis://user:password@host:6379.',
  ],
  [/\bNOPERM\b/, 'The user of REDIS_URL may not do this: give it all commands on all keys and channels.'],
  [/No such master/, 'Sentinel watches no master of this name: put the one of its configuration behind the last slash of REDIS_URL.'],
  [/unknown command .sentinel/, 'This is a Redis and no Sentinel: write redis:// in REDIS_URL, or the port of a Sentinel (26379).'],
  [/unknown command .(set|get)\b/, 'This is a Sentinel and no Redis: write redis+sentinel://host:port/master-name in REDIS_URL.'],
  [/cluster support disabled/, 'This Redis is no cluster: write redis:// in REDIS_URL.'],
  [/\bMOVED\b|CROSSSLOT/, 'This Redis is part of a cluster: write redis+cluster:// in REDIS_URL.'],
  [/CLUSTERDOWN|slots cache/, 'The cluster does not serve all slots: bring up its masters, or name other nodes in REDIS_URL.'],
  [
    /READONLY/,
    'This Redis is a replica, which takes no writes: name its master in REDIS_URL, or let Sentinel find it (redis+sentinel://).',
  ],
  [/self.signed|unable to (verify|get)|certificate/, 'Its certificate is not trusted: name the authority in NODE_EXTRA_CA_CERTS.'],
  [
    /ECONNRESET|Connection is closed|wrong version number|^no answer$/,
    'If it listens with TLS write rediss:// in REDIS_URL, if it does not, redis://.',
  ],
];

/** Hint for this error; default: the one for a Redis that does not run. */
export function connectionHint(answer: string): string {
  return HINTS.find(([known]) => known.test(answer))?.[1] ?? 'Start it, or set REDIS_URL to the one to use.';
}
