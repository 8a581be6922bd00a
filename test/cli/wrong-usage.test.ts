import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { allCommands } from '../kit/commands/all-commands.js'
import { command } from '../kit/commands/command.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'usage-'))
  const files = {
    'site.bu': 'variant: fcos\nversion: 1.5.0\n',
    'good.ign': '{"ignition":{"version":"3.4.0"}}',
    'bad-key.yaml': 'nodess: 3\n',
    'bad-value.yaml': 'port: many\n',
    'empty-value.yaml': 'port:\n',
    'list.yaml': '- port\n',
    'broken.yaml': 'port: {\n',
    'bad-hardware.yaml': 'cpu: 4\n',
    'hosts.yaml': 'hosts: {}\n',
    'manifests.yaml': 'apiVersion: v1\nkind: Secret\n---\napiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\n',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
})

interface Wrong {
  argv: string
  says: string
  /** The remedy in the error. */
  remedy: string | RegExp
  variables?: Record<string, string>
}

/** FOLDER stands for the folder of files above. */
const WRONG: Wrong[] = [
  { argv: 'depoly', says: "unknown command 'depoly' (ironstage)", remedy: 'deploy' },
  { argv: '-v', says: "unknown option '-v' (ironstage)", remedy: '-V, --version' },
  {
    argv: 'step run instal_coreos',
    says: 'there is no step instal_coreos; did you mean install_coreos?',
    remedy: /^there are /,
  },
  {
    argv: 'run FOLDER/hosts.yml',
    says: 'FOLDER/hosts.yml cannot be read',
    remedy: 'name FOLDER/hosts.yaml',
  },
  {
    argv: 'run FOLDER/manifests.yaml',
    says: 'FOLDER/manifests.yaml: this is no hosts file: it has objects of Kubernetes (Secret)',
    remedy: /ironstage bmh explain/,
  },
  { argv: 'explain host.yaml', says: "unknown command 'explain' (ironstage)", remedy: 'ironstage bmh explain FILE' },
  {
    argv: 'bmh ./host.yaml',
    says: "unknown command './host.yaml' (ironstage bmh)",
    remedy: 'ironstage bmh explain FILE',
  },
  { argv: 'bmh up', says: "unknown command 'up' (ironstage bmh)", remedy: 'ironstage up' },
  { argv: 'list', says: "unknown command 'list' (ironstage)", remedy: / or ironstage cache list( or |$)/ },
  { argv: 'step rnu x', says: "unknown command 'rnu' (ironstage step)", remedy: 'run' },
  { argv: 'deploy --imgae x', says: "unknown option '--imgae' (ironstage deploy)", remedy: '--image' },
  { argv: 'deploy --zzz', says: "unknown option '--zzz' (ironstage deploy)", remedy: 'ironstage deploy --help' },
  {
    argv: 'iso reset --frobnicate',
    says: "unknown option '--frobnicate' (ironstage iso reset)",
    remedy: /iso reset --help/,
  },
  {
    argv: 'step run',
    says: "missing required argument 'NAME' (ironstage step run)",
    remedy: 'ironstage step run --help',
  },
  {
    argv: 'up extra',
    says: "too many arguments for 'up'. Expected 0 arguments but got 1 (ironstage up)",
    remedy: /--help/,
  },
  { argv: 'deploy --target', says: "option '--target <TARGET>' argument missing (ironstage deploy)", remedy: /--help/ },
  { argv: 'deploy --target a --target b', says: '--target is given 2 times (ironstage deploy)', remedy: /--help/ },
  { argv: 'deploy --json --json', says: '--json is given 2 times (ironstage deploy)', remedy: /--help/ },
  { argv: 'up --port 1 --port=2', says: '--port is given 2 times (ironstage up)', remedy: /--help/ },
  { argv: 'download -p metal -p qemu', says: '--platform is given 2 times (ironstage download)', remedy: /--help/ },
  {
    argv: 'download --no-cache --no-cache',
    says: '--no-cache is given 2 times (ironstage download)',
    remedy: /--help/,
  },
  {
    argv: 'stream serve . --port 1 --port 2',
    says: '--port is given 2 times (ironstage stream serve)',
    remedy: /--help/,
  },
  { argv: 'iso reset x -o a -o b', says: '--output is given 2 times (ironstage iso reset)', remedy: /--help/ },
  {
    argv: 'step list --config a --config b',
    says: '--config is given 2 times (ironstage step list)',
    remedy: /--help/,
  },
  { argv: 'download --mirror=', says: 'the value of --mirror is empty (ironstage download)', remedy: /--help/ },
  { argv: 'deploy --image=', says: 'the value of --image is empty (ironstage deploy)', remedy: /--help/ },
  { argv: 'deploy --append-karg=', says: 'the value of --append-karg is empty (ironstage deploy)', remedy: /--help/ },
  { argv: 'up --port x', says: '--port is "x", which is not a whole number', remedy: '--port 6385' },
  { argv: 'up --port 70000', says: '--port is "70000", which must be <= 65535', remedy: '--port 6385' },
  { argv: 'up --speed 0', says: '--speed is "0", which must be > 0', remedy: '--speed 60' },
  {
    argv: 'deploy --disk-size big',
    says: '--disk-size is "big", which is not of a form such as 20GiB',
    remedy: '--disk-size 20GiB',
  },
  {
    argv: 'deploy --target ssh',
    says: '--target is "ssh", which is not of a form such as local:disk.img',
    remedy: '--target local:disk.img',
  },
  {
    argv: 'up --role conductor',
    says: '--role is about a database of several processes, and none is named',
    remedy: 'add --database postgres://USER@HOST/DATABASE, or leave it out',
  },
  {
    argv: 'up --role machines --nodes 2',
    says: '--role is about a database of several processes, and none is named',
    remedy: 'add --database postgres://USER@HOST/DATABASE, or leave it out',
  },
  {
    argv: 'up --database postgres://ironic@db/ironic --role machines --set api.port=1',
    says: '--set is about an API or a conductor, and a process of --role machines is neither',
    remedy: /ironstage fleet --database/,
  },
  {
    argv: 'up --database postgres://ironic@db/ironic --role api --name-prefix rack-a-',
    says: '--name-prefix is about the machines of --role machines',
    remedy: 'leave it out, or name that role',
  },
  {
    argv: 'fleet --name-prefix rack1',
    says: '--name-prefix is "rack1", which is not the beginning of names: small letters, digits and -, with a letter or - at its end',
    remedy: '--name-prefix rack-a-',
  },
  {
    argv: 'fleet --name-prefix rack-a- --systems nodes.json',
    says: '--name-prefix is for machines that are counted, and --systems names its own',
    remedy: 'leave out --name-prefix',
  },
  {
    argv: 'fleet --database postgres://ironic@db/ironic --ironic-url http://127.0.0.1:6385',
    says: '--database and --ironic-url both say where the Ironic is',
    remedy: /^leave out --ironic-url/,
  },
  {
    argv: 'fleet --database-schema staging',
    says: '--database-schema is about a database of several processes, and none is named',
    remedy: 'add --database postgres://USER@HOST/DATABASE, or leave it out',
  },
  {
    argv: 'up --database postgres://ironic:secret@db/ironic',
    says: 'the URL of --database has a password, which every user of this host could read in the list of processes',
    remedy: /--database-password-file FILE/,
  },
  {
    argv: 'up --database postgres://ironic@db/ironic --nodes 3',
    says: '--nodes is about machines of this process, and --database has none',
    remedy: /ironstage fleet/,
  },
  {
    argv: 'up --database postgres://ironic@db/ironic --machines here',
    says: '--machines here: the machines of --database are elsewhere, where all of its processes reach them',
    remedy: /ironstage fleet/,
  },
  {
    argv: 'up --database postgres://ironic@db:many/ironic',
    says: 'the port of the database is "many"',
    remedy: 'name a port from 1 to 65535',
  },
  {
    argv: 'up --profile metl3',
    says: '--profile is "metl3", which is not one of metal3, openshift, upstream',
    remedy: '--profile metal3',
  },
  {
    argv: 'stream convert --to strem x',
    says: '--to is "strem", which is not one of release, stream, index, config-map',
    remedy: '--to stream',
  },
  { argv: 'deploy --config /nowhere.yaml', says: 'the config file /nowhere.yaml cannot be read', remedy: /YAML/ },
  {
    argv: 'up --config FOLDER/bad-key.yaml',
    says: 'the config file FOLDER/bad-key.yaml has an unknown key nodess',
    remedy: 'nodes',
  },
  {
    argv: 'up --config FOLDER/bad-value.yaml',
    says: 'port in FOLDER/bad-value.yaml is "many", which is not a whole number',
    remedy: '--port 6385',
  },
  {
    argv: 'up --config FOLDER/empty-value.yaml',
    says: 'port in FOLDER/empty-value.yaml is empty',
    remedy: '--port 6385',
  },
  {
    argv: 'up --config FOLDER/list.yaml',
    says: 'the config file FOLDER/list.yaml is not a set of keys and values',
    remedy: /port: 6385/,
  },
  { argv: 'up --config FOLDER/broken.yaml', says: 'the config file FOLDER/broken.yaml cannot be read', remedy: /YAML/ },
  {
    argv: 'up',
    variables: { IRONSTAGE_PROT: '1' },
    says: 'the environment has IRONSTAGE_PROT, which is not an option of ironstage',
    remedy: 'unset it, or IRONSTAGE_PORT',
  },
  {
    argv: 'up',
    variables: { IRONSTAGE_PORT: 'x' },
    says: 'IRONSTAGE_PORT is "x", which is not a whole number',
    remedy: '--port 6385',
  },
  { argv: 'deploy --hardware FOLDER/bad-hardware.yaml', says: 'FOLDER/bad-hardware.yaml', remedy: /./ },
  {
    argv: 'deploy --ignition FOLDER/site.bu',
    says: 'FOLDER/site.bu is a Butane file (variant fcos), not an Ignition config',
    remedy: 'butane --strict FOLDER/site.bu > FOLDER/site.ign, then give FOLDER/site.ign',
  },
  {
    argv: 'ignition merge FOLDER/good.ign FOLDER/site.bu',
    says: 'FOLDER/site.bu is a Butane file (variant fcos), not an Ignition config',
    remedy: /^butane --strict/,
  },
  {
    argv: 'ignition show /nowhere.ign',
    says: 'the Ignition config /nowhere.ign cannot be read',
    remedy: /name a file/,
  },
  { argv: 'ignition show - -', says: 'too many arguments for', remedy: /--help/ },
  { argv: 'ignition merge - -', says: 'standard input can be read only once', remedy: 'name - once' },
  {
    argv: 'coreos-installer --sector-size 1 install x',
    says: '--sector-size 1: a disk has sectors of 512 or 4096 bytes',
    remedy: /512/,
  },
]

test.each(WRONG)('ironstage $argv: $says', async ({ argv, says, remedy, variables = {} }) => {
  const at = (text: string) => text.replaceAll('FOLDER', folder)
  const run = command(at(argv).split(' '), { variables })
  const code = await run.ended
  const [first = '', ...rest] = run.stderr.trimEnd().split('\n')
  expect({ code, stdout: run.stdout, first }).toEqual({ code: 2, stdout: '', first: expect.stringContaining(at(says)) })
  expect(first.startsWith('ironstage: ')).toBe(true)
  const tried = rest.at(-1)?.replace(/^ {2}try: /, '')
  if (typeof remedy === 'string') expect(tried).toBe(at(remedy))
  else expect(tried).toMatch(remedy)
})

test('config file and environment may say what a flag says too', async () => {
  const config = join(folder, 'json.yaml')
  await writeFile(config, 'json: false\n')
  const run = command(['step', 'list', '--json', '--config', config], { variables: { IRONSTAGE_JSON: 'true' } })
  expect({ code: await run.ended, stderr: run.stderr }).toEqual({ code: 0, stderr: '' })
})

test.each([['help'], ['help up'], ['step help'], ['step help run']])(
  'ironstage %s is help, and no failure',
  async (argv) => {
    const run = command(argv.split(' '))
    expect({ code: await run.ended, stderr: run.stderr }).toEqual({ code: 0, stderr: '' })
    expect(run.stdout).toMatch(/^Usage: ironstage/)
  },
)

test.each(allCommands().map(({ path }) => [path.join(' ')]))('"%s" refuses an option that is invalid', async (path) => {
  const argv = [...path.split(' ').filter(Boolean), '--no-such-option']
  const run = command(argv)
  expect(await run.ended).toBe(2)
  expect(run.stdout).toBe('')
  const name = ['ironstage', path].filter(Boolean).join(' ')
  // A required option that is missing is said first.
  const what = /^ironstage: required option '.*' not specified/.exec(run.stderr)?.[0]
  expect(run.stderr).toBe(
    `${what ?? "ironstage: unknown option '--no-such-option'"} (${name})\n  try: ${name} --help\n`,
  )
})
