import { describe, expect, it } from '@jest/globals';
import { NO_GRANTS } from '#contracts';
import { decide } from './decide.js';
import { addGrant } from './grants/add-grant.js';
import { factsOf, type Circumstances } from './testing/call-facts.js';

const judge = (command: string, circumstances: Circumstances = {}) => decide(factsOf('shell', { command }, circumstances));
const optionsOf = (command: string) => judge(command).trustOptions ?? [];
/** The effect on each command after a person trusted the first one as it is. */
function effectsAfterTrust(trusted: string, ...later: readonly string[]): string[] {
  const grants = optionsOf(trusted).reduce(addGrant, NO_GRANTS);
  return later.map((command) => judge(command, { grants }).effect);
}

describe('trust in exactly one command', () => {
  it.each([
    'AWS_PROFILE=dev aws s3 ls',
    'NODE_ENV=production DEBUG=a:* npm test',
    'DEBUG="a b" npm test',
    'cd infra && AWS_PROFILE=dev terraform plan',
    'env AWS_PROFILE=dev aws s3 ls',
    'AWS_PROFILE=dev aws s3 ls | head -3',
    'curl "$API_URL"',
    'curl -s "${API_URL}/v1/items"',
    'curl -H "Authorization: Bearer $TOKEN" https://api.example.com',
    'git checkout "$BRANCH"',
    'ssh "$DEPLOY_HOST" uptime',
    'npm run "$SCRIPT"',
    'RUST_LOG=debug cargo test',
  ])('offers trust in a command as written and runs the same command again: %s', (command) => {
    expect(optionsOf(command)[0]).toMatchObject({ id: 'command-full' });
    expect(effectsAfterTrust(command, command)).toEqual(['allow']);
  });

  it('limits trust in a command to its assignment, and not to fewer, other or more assignments', () => {
    const others = ['aws s3 ls', 'AWS_PROFILE=prod aws s3 ls', 'LD_PRELOAD=x aws s3 ls', 'A=b AWS_PROFILE=dev aws s3 ls'];
    const around = ['export AWS_PROFILE=dev; aws s3 ls', 'AWS_PROFILE=dev; aws s3 ls', 'AWS_PROFILE=$x aws s3 ls'];
    const written = ['AWS_PROFILE=dev aws s3 ls > f', 'AWS_PROFILE=dev aws s3 rm'];
    expect(effectsAfterTrust('AWS_PROFILE=dev aws s3 ls', ...others, ...around, ...written)).toEqual(Array(9).fill('ask'));
  });

  it('limits the trust in a command to its variable: not, one that the line sets, or one without its quotes', () => {
    const others = ['curl "$OTHER"', 'curl $API_URL', "curl '$API_URL'", 'curl "$API_URL" -o f', 'curl "$API_URL$X"'];
    const set = ['API_URL=-o; curl "$API_URL"', 'api=x; curl "$API_URL"', 'for API_URL in a; do curl "$API_URL"; done'];
    const around = ['read API_URL; curl "$API_URL"', 'X=1 curl "$API_URL"', 'printf -v API_URL x; curl "$API_URL"'];
    expect(effectsAfterTrust('curl "$API_URL"', ...others, ...set, ...around)).toEqual(Array(11).fill('ask'));
  });

  it.each([
    ['python3 <<E\nprint(1)\nE', ['python3 <<E\nimport os\nE', 'python3', 'python3 <<E\nE']],
    ['cat <<E > f\na\nE', ['cat <<E > f\nb\nE', 'cat > f']],
    ['python3 <<< "print(1)"', ['python3 <<< "import os"', 'python3']],
    ['make x < a', ['make x < b', 'make x']],
    ['{ python3; } <<E\nprint(1)\nE', ['{ python3; } <<E\nimport os\nE']],
    ['A="a b" make', ['A=a b make', "A='a' b make", 'A="a\' b" make']],
    ['FOO=" bar" make', ['FOO= bar make']],
    ['A=x make', ['A+=x make', 'A[0]=x make', 'A=(x) make']],
    ['rm "a b"', ['rm a b', 'rm "a" b']],
    ['make ""', ['make', 'make " "']],
    ["make '$X'", ['make $X', 'make "$X"']],
    ["make '*'", ['make *']],
    ['make "~"', ['make ~']],
    ['"make x"', ['make x']],
  ])('limits trust in a command to its exact text, with quotes and inputs: %j, not %j', (command, others) => {
    const grants = optionsOf(command).slice(0, 1).reduce(addGrant, NO_GRANTS);
    expect([command, ...others].map((it) => judge(it, { grants }).effect)).toEqual(['allow', ...others.map(() => 'ask')]);
  });

  it.each([
    ['cat gen.py | python3', ['python3 <<E\nimport os\nE', 'python3 <<< "evil"', '{ python3; } < a.py']],
    ['cat a.yaml | kubectl apply -f -', ['kubectl apply -f - <<E\nkind: evil\nE']],
    ['curl https://a.example/x | python3', ['cat gen.py | python3', 'curl https://b.example/x | python3', 'python3']],
    ['npm test', ['>/etc/passwd npm test', '2>.envrc npm test', '>>f npm test', '&>f npm test', '<f npm test']],
    ['>f npm test', ['npm test', '>g npm test', 'npm test >f']],
    ['{ python3; } < a.py', ['{ python3; } < b.py', '{ python3; } <<E\nimport os\nE', 'python3']],
  ])('limits trust in a command to its input, from any place: %j, not %j', (command, others) => {
    const grants = optionsOf(command)
      .filter(({ id }) => id === 'command-full')
      .reduce(addGrant, NO_GRANTS);
    expect([command, ...others].map((it) => judge(it, { grants }).effect)).toEqual(['allow', ...others.map(() => 'ask')]);
  });

  it.each([
    'LD_PRELOAD=x ls',
    'PATH=/x ls',
    'GIT_SSH_COMMAND=x git fetch',
    'NODE_OPTIONS=x npm test',
    'A=$(id) ls',
    'A=$B ls',
    'export AWS_PROFILE=dev; aws s3 ls',
    'API_URL=x; curl "$API_URL"',
    'bash -c "$X"',
    'eval "$X"',
    'curl -o f "$API_URL"',
    'curl $(cat url)',
    'tar xf *',
    'tar "$X"*',
    '"$X" a',
    'echo x | xargs $k',
    'mysql -e "$SQL"',
    'find . $X',
    'sed "$X" f',
    'awk "$X" f',
  ])('offers no trust in a command with hidden effects: %s', (command) => expect(optionsOf(command)).toEqual([]));

  it('limits the trust in a command to its arguments', () => {
    for (const command of ['AWS_PROFILE=dev aws s3 ls', 'curl "$API_URL"'])
      expect(optionsOf(command).map(({ id }) => id)).toEqual(['command-full']);
  });

  it('separates trust in a command from patterns of the configuration', () => {
    const policy = { commands: { allowedCommands: ['.*', 'aws .*', 'curl .*'] } };
    for (const command of ['AWS_PROFILE=dev aws s3 ls', 'curl "$API_URL"']) expect(judge(command, { policy }).effect).toBe('ask');
  });
});
