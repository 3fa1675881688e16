import { execFileSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';

/** Address of this process for the hosts. */
export const HERE = '10.88.0.1';

/** A host of its own in the network of the test: a network namespace with one link, to a bridge. */
export interface Host {
  readonly address: string;
  /** Words that run a command on the host. */
  readonly launcher: readonly string[];
  /** Takes the link away: packets are lost, and no connection is closed. */
  cut(): void;
  join(): void;
  /** Limits the link to the host, such as `256kbit` a second; packets that would wait for more than 200 ms are lost. */
  limit(rate: string): void;
  unlimit(): void;
  /** Ends all processes of the host at once. */
  kill(): void;
}

/**
 * Makes hosts. They vanish with the network of this process, which has to be a private one.
 * @throws where it is that of the machine
 */
export function startHosts(names: readonly string[]): Host[] {
  const others = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (others.length > 0) throw new Error('The hosts need a private network. As root: npm run soak:hosts');
  ip('link add lan type bridge');
  ip(`addr add ${HERE}/24 dev lan`);
  ip('link set lan up');
  return names.map((name, index) => startHost(name, `10.88.0.${index + 2}`));
}

function startHost(name: string, address: string): Host {
  const port = `to-${name}`;
  ip(`netns add ${name}`);
  ip(`link add ${port} type veth peer name eth0 netns ${name}`);
  ip(`link set ${port} master lan up`);
  ip(`-n ${name} link set lo up`);
  ip(`-n ${name} addr add ${address}/24 dev eth0`);
  ip(`-n ${name} link set eth0 up`);
  return {
    address,
    launcher: ['ip', 'netns', 'exec', name],
    cut: () => ip(`link set ${port} down`),
    join: () => ip(`link set ${port} up`),
    limit: (rate) => run('tc', `qdisc add dev ${port} root tbf rate ${rate} burst 4kb latency 200ms`),
    unlimit: () => run('tc', `qdisc del dev ${port} root`),
    kill: () => {
      for (const pid of execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8' }).split('\n').filter(Boolean))
        process.kill(Number(pid), 'SIGKILL');
    },
  };
}

function ip(words: string): void {
  run('ip', words);
}

function run(program: string, words: string): void {
  execFileSync(program, words.split(' '), { stdio: ['ignore', 'ignore', 'inherit'] });
}
