// Archives and trims all of a log as a projector does, and kills itself (SIGKILL) before the step of that number: a command to
// Redis, or the beginning or the end of an operation of the store. Prints the number of steps when it comes to the end.
// node killed-archiver.fixture.mjs <Redis URL> <archive folder> <partitions> <step>
import { openArchive } from '#archive';
import { createRedis, partitionName } from '#redis';
import { PartitionArchiver } from '#sealing';

const [redisUrl, folder, partitions, last] = process.argv.slice(2);
const HOURS_MS = 7_200_000;
let steps = 0;

function step() {
  steps += 1;
  if (steps === Number(last)) process.kill(process.pid, 'SIGKILL');
}

const redis = createRedis(redisUrl);
await redis.ping();
const send = redis.sendCommand.bind(redis);
redis.sendCommand = (...command) => {
  step();
  return send(...command);
};

const store = await openArchive(`file://${folder}`);
for (const name of ['put', 'get', 'list']) {
  const operation = store[name].bind(store);
  store[name] = async (...values) => {
    step();
    const answer = await operation(...values);
    step();
    return answer;
  };
}

for (let index = 0; index < Number(partitions); index += 1) {
  const archiver = new PartitionArchiver(redis, store, partitionName(index), { maxAgeMs: 0, maxCalls: 0 });
  while (await archiver.step({ nowMs: Date.now() + HOURS_MS, segmentMs: 0, isFull: false }));
}
process.stdout.write(String(steps));
redis.disconnect();
